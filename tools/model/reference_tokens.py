"""Makes what the tokenizer is built from and checked against, from the reference tokenizer.

    pip install tokenizers
    python tools/model/reference_tokens.py TOKENIZER_JSON classes
    python tools/model/reference_tokens.py TOKENIZER_JSON texts

TOKENIZER_JSON is the `tokenizer.json` of all-MiniLM-L6-v2. `classes` writes the classes of
characters, `texts` the texts with the ids that the reference gives them. All texts are made here,
by rule, from ranges of Unicode and the words below; the same seed gives the same file.
"""

import argparse
import gzip
import json
import pathlib
import random
import textwrap

from tokenizers import Tokenizer

CRATE = pathlib.Path(__file__).resolve().parents[2] / "crates" / "embed"
SEED = 20_261_115
COUNT = 10_000

ENGLISH = """
meeting notes deploy server database migration invoice garden recipe kettle birthday doctor
appointment passport flight Lisbon Berlin allergic peanuts favourite colour lighthouse unbelievable
reorganisation antidisestablishmentarianism tokenizer embeddings throughput Kubernetes PostgreSQL
don't can't it's we'll o'clock e-mail state-of-the-art i.e. U.S.A. coffee tea walk run running ran
the a of and to in was with who what when where why how remember forget prefers likes hates
""".split()
ACCENTED = """
café naïve résumé Zürich Straße Größe Übermut crème brûlée jalapeño São Paulo Łódź żółć Ærøskøbing
Þórshöfn smörgåsbord İstanbul ığdır Dvořák Škoda čeština ångström Việt Nam Hà Nội fiancée œuvre
garçon mañana ¿qué ¡hola déjà-vu piñata àèìòù ñandú ŝanĝo ħobż ŵyneb ơi ưu
""".split()
SCRIPTS = {
    "Cyrillic": "встреча заметки сервер Москва подъезд ёлка Київ їжак щастя кафе Йошкар-Ола база",
    "Greek": "σημείωση Αθήνα καλημέρα ΟΔΥΣΣΕΥΣ θάλασσα φίλος ψωμί ἄνθρωπος ᾠδή ἐν ἀρχῇ Ωμέγα",
    "Arabic": "اجتماع ملاحظات خادم القاهرة مُحَمَّد كتاب، سلام؟ ٣٤٥ لغة العربية",
    "Hebrew": "פגישה הערות שרת ירושלים שָׁלוֹם ספר־לימוד עברית",
    "Devanagari": "बैठक नोट्स सर्वर दिल्ली नमस्ते किताब हिन्दी है। १२३ क़लम",
    "Bengali": "সভা সার্ভার ঢাকা বাংলা বই কলকাতা",
    "Tamil": "கூட்டம் குறிப்பு சென்னை தமிழ் புத்தகம்",
    "Thai": "ประชุม บันทึก เซิร์ฟเวอร์ กรุงเทพ สวัสดี ภาษาไทย ๑๒๓",
    "Han": "会议记录 服务器 数据库迁移 北京 東京 咖啡，茶。 国際 漢字 人工智能",
    "Kana": "かいぎ メモ サーバー データベース とうきょう コーヒー がぎぐげご パピプペポ ﾊﾝｶｸ",
    "Hangul": "회의 메모 서버 데이터베이스 서울 커피 한국어 각힣 가",
    "Georgian": "შეხვედრა სერვერი თბილისი წიგნი ᲗᲑᲘᲚᲘᲡᲘ",
    "Armenian": "հանդիպում սերվեր Երևան գիրք ՀԱՅԱՍՏԱՆ և՞",
    "Ethiopic": "ስብሰባ አገልጋይ አዲስ አበባ መጽሐፍ፡",
    "Khmer": "ប្រជុំ ភ្នំពេញ សៀវភៅ",
    "Emoji": "😀 👍🏽 👩‍👩‍👧 🇩🇪 ❤️ ☕ 1️⃣ 🏴‍☠️ ✅ → ∑ € £ ™ ½ ² №",
}
SCRIPTS = {name: words.split() for name, words in SCRIPTS.items()}
RANGES = {
    "Latin": (0x00A1, 0x024F), "Latin additional": (0x1E00, 0x1EFF), "IPA": (0x0250, 0x02FF),
    "Combining": (0x0300, 0x036F), "Greek": (0x0370, 0x03FF), "Greek extended": (0x1F00, 0x1FFF),
    "Cyrillic": (0x0400, 0x052F), "Armenian": (0x0530, 0x058F), "Hebrew": (0x0590, 0x05FF),
    "Arabic": (0x0600, 0x06FF), "Syriac": (0x0700, 0x074F), "Devanagari": (0x0900, 0x097F),
    "Bengali": (0x0980, 0x09FF), "Tamil": (0x0B80, 0x0BFF), "Thai": (0x0E00, 0x0E7F),
    "Tibetan": (0x0F00, 0x0FFF), "Myanmar": (0x1000, 0x109F), "Georgian": (0x10A0, 0x10FF),
    "Jamo": (0x1100, 0x11FF), "Ethiopic": (0x1200, 0x137F), "Spaces": (0x2000, 0x206F),
    "Symbols": (0x2070, 0x2BFF), "Kana": (0x3000, 0x30FF), "Han": (0x4E00, 0x9FFF),
    "Han A": (0x3400, 0x4DBF), "Hangul": (0xAC00, 0xD7A3), "Private": (0xE000, 0xE0FF),
    "Compatible Han": (0xF900, 0xFAFF), "Forms": (0xFB00, 0xFEFF), "Wide": (0xFF00, 0xFFEF),
    "Emoji": (0x1F300, 0x1FAFF), "Han B": (0x20000, 0x2A6DF), "Tags": (0xE0000, 0xE007F),
    "Mathematics": (0x1D400, 0x1D7FF),
}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[sep]", "[SEP", "SEP]", "[[SEP]]",
           "[unused7]", "##ing", "[ SEP ]", "[MA\u200bSK]"]
INVISIBLE = ["\0", "\x01", "\x0b", "\x0c", "\x1f", "\x7f", "\x85", "\xa0", "\xad", "\u200b",
             "\u200d", "\u200e", "\u202e", "\u2028", "\u2060", "\u3000", "\ufeff", "\ufffd", "\ue000"]
CODE = ["fn main() {}", "x += 1;", "let mut v = Vec::<u8>::new();", "if (a && !b) return -1;",
        "SELECT * FROM t WHERE id = 42", "std::collections::HashMap", "snake_case_name", "camelCase",
        "#include <stdio.h>", "$HOME/.config", "0xDEADBEEF", "r#\"raw\"#", "a->b", "@dataclass",
        "`ls -la | grep foo`", "\\n\\t", "{\"key\": [1, 2.5, null]}", "x^2 ~ y_1", "C++", "f'{x!r}'"]
MARKUP = ["<p class=\"a\">text</p>", "&nbsp;&amp;&#39;", "<br/>", "<!-- note -->", "**bold**", "# Title",
          "- [ ] open", "[link](https://example.com/a?b=c&d=%20#e)", "| a | b |", "> quote", "***"]


def word(rng):
    """Returns a word of some kind."""
    kind = rng.randrange(14)
    if kind < 3:
        return rng.choice([str.lower, str.upper, str.title, str])(rng.choice(ENGLISH))
    if kind == 3:
        return rng.choice(ACCENTED)
    if kind == 4:
        return rng.choice(rng.choice(list(SCRIPTS.values())))
    if kind == 5:
        return number(rng)
    if kind == 6:
        return address(rng)
    if kind == 7:
        return rng.choice(CODE)
    if kind == 8:
        return rng.choice(MARKUP)
    if kind == 9:
        return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(1, 14)))
    if kind == 10:
        return span(rng, *rng.choice(list(RANGES.values())), rng.randint(1, 6))
    if kind == 11:
        return rng.choice(ENGLISH) + rng.choice(SPECIAL) + rng.choice(ENGLISH)
    if kind == 12:
        return rng.choice(INVISIBLE).join(rng.choice(ENGLISH) for _ in range(2))
    return rng.choice(["...", "!?", "--", "—", "“”", "«»", "、", "।", "؟", "'", "\"", "(", ")", "/"])


def number(rng):
    """Returns a number, an amount, a date or a version."""
    value = rng.randrange(10 ** rng.randint(1, 12))
    return rng.choice([f"{value}", f"{value:,}", f"-{value / 100}", f"${value}", f"{value}%", f"v{value}.0.1",
                       f"20{value % 100:02}-0{value % 9 + 1}-1{value % 10}", f"{value:x}", f"{value:e}"])


def address(rng):
    """Returns an address of the web or of a file."""
    one, two = (rng.choice(ENGLISH) for _ in range(2))
    return rng.choice([f"https://{one}.example/{two}?q={number(rng)}#top", f"{one}@{two}.example",
                       f"/var/{one}/{two}.md", f"C:\\{one}\\{two}.txt", f"{one}_{two}", f"{one}{two.title()}"])


def span(rng, first, last, length):
    """Returns characters of a range."""
    return "".join(chr(rng.randint(first, last)) for _ in range(length))


def texts(rng):
    """Yields the texts: first each kind for itself, then all of them mixed."""
    # Every character of the first plane whose class is its own, in the middle of a word.
    swept = [c for c in range(0x3400) if not 0xD800 <= c < 0xE000]
    swept += list(range(0xA000, 0xAC00)) + list(range(0xF900, 0x10000)) + list(range(0x1F000, 0x1FB00))
    swept += list(range(0x10000, 0x12000)) + list(range(0x1D000, 0x1D800)) + list(range(0xE0000, 0xE0200))
    for start in range(0, len(swept), 24):
        yield " ".join(f"a{chr(c)}b" for c in swept[start:start + 24])
    for first, last in [(0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0x20000, 0x2FA1F), (0x30000, 0x3134F)]:
        for _ in range(40):
            yield span(rng, first, last, rng.randint(1, 12))
    for words in SCRIPTS.values():
        for _ in range(120):
            yield rng.choice(["", " ", ", ", " - "]).join(rng.choice(words) for _ in range(rng.randint(1, 8)))
    for first, last in RANGES.values():
        for _ in range(30):
            yield " ".join(span(rng, first, last, rng.randint(1, 4)) for _ in range(rng.randint(1, 8)))
    for token in SPECIAL + INVISIBLE + CODE + MARKUP:
        yield token
        yield token * 3
        yield f"x{token}y {token} z"
    # Words at and about the greatest length, in letters of one, two and four bytes.
    for letter in ["a", "й", "é", "𝒳", "각", "e\u0301", "x\u200b"]:
        for length in [31, 32, 33, 98, 99, 100, 101, 102, 400]:
            yield f"one {letter * length} two"
    for text in ["", " ", "\n\n\t", "\u0301", "\u0301\u0302" * 50, "\u200b" * 9, "." * 300, "\U0010ffff"]:
        yield text
    while True:
        yield rng.choice([" ", " ", " ", "", "\n", "\t "]).join(word(rng) for _ in range(rng.randint(1, 12)))


def write_texts(tokenizer, rng):
    """Writes texts with their ids, one in a line."""
    lines = []
    for text in texts(rng):
        if len(lines) == COUNT:
            break
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        lines.append(json.dumps([text, ids], ensure_ascii=False, separators=(",", ":")))
    data = gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=9, mtime=0)
    (CRATE / "tests" / "vectors" / "tokens.jsonl.gz").write_bytes(data)


def write_classes(tokenizer):
    """Asks the reference about every character, and writes the edges of each class."""
    dropped, alone, marks = set(), set(), set()
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        around = f"a{chr(code)}b"
        plain = tokenizer.normalizer.normalize_str(around)
        if plain == "ab":
            dropped.add(code)
        elif plain != "a b" and plain[1] == " ":
            alone.add(code)
        if len(tokenizer.pre_tokenizer.pre_tokenize_str(around)) == 3:
            marks.add(code)
    classes = []
    for name, codes in [("dropped", dropped), ("ideographs", alone), ("punctuation", marks)]:
        edges = [f"{c:x}" for c in range(0x110001) if (c in codes) != (c - 1 in codes)]
        classes.append(f"{name}\n{textwrap.fill(' '.join(edges), 99)}\n")
    (CRATE / "assets" / "classes.txt").write_text("\n".join(classes))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("tokenizer", help="tokenizer.json of the reference")
    arguments.add_argument("what", choices=["classes", "texts"])
    arguments.add_argument("--seed", type=int, default=SEED)
    given = arguments.parse_args()
    tokenizer = Tokenizer.from_file(given.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if given.what == "classes":
        write_classes(tokenizer)
    else:
        write_texts(tokenizer, random.Random(given.seed))


main()
