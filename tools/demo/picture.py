#!/usr/bin/env python3
"""Draws `anemone demo` as the picture in README.

  picture.py PROGRAM > docs/demo.svg

The program runs in an empty home. Its colours become colours of the picture, and the steps that
take the most lines to explain are left out.
"""
import html, os, re, subprocess, sys, tempfile

STEPS = ("1.", "2.", "3.", "4.", "6.")
COLUMNS, LINE, CHARACTER, MARGIN = 88, 20, 8.4, 20
BACKGROUND, TEXT = "#14191f", "#d7dde3"
STYLES = {
    "1": 'font-weight="bold" fill="#ffffff"',
    "2": 'fill="#7d8894"',
    "32": 'fill="#7fd08a"',
    "33": 'fill="#e2b866"',
}
CODE = re.compile(r"\x1b\[([0-9;]*)m")


def output(program):
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "CLICOLOR_FORCE": "1"}
        done = subprocess.run([program, "demo", "--human"], env=env, stdout=subprocess.PIPE,
                              check=True, text=True)
    return done.stdout.splitlines()


def chosen(lines):
    keep = False
    for line in lines:
        plain = CODE.sub("", line)
        if re.match(r"\d\.", plain):
            keep = plain.startswith(STEPS)
        elif not plain.startswith(" "):
            keep = False
        if keep:
            yield line


def width(text):
    """Columns of a text: Chinese characters take two."""
    return sum(2 if "\u2e80" <= character <= "\uffef" else 1 for character in text)


def spans(line):
    """Pieces of a line with their style, cut at the width of the picture."""
    styles, left = [], COLUMNS
    pieces = CODE.split(line)
    for at, piece in enumerate(pieces):
        if at % 2:
            codes = [code for code in piece.split(";") if code]
            styles = [] if not codes or codes == ["0"] else styles + codes
            continue
        if width(piece) > left:
            while piece and width(piece) > left - 1:
                piece = piece[:-1]
            piece += "…" if left > 0 else ""
        left -= width(piece)
        if piece:
            style = " ".join(STYLES[code] for code in styles if code in STYLES)
            yield f"<tspan {style}>{html.escape(piece)}</tspan>"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = list(chosen(output(sys.argv[1])))
    wide, high = COLUMNS * CHARACTER + 2 * MARGIN, (len(lines) + 2) * LINE + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" '
          f'width="{wide:.0f}" height="{high}" role="img">')
    print("<title>anemone demo in a terminal</title>")
    print(f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    print(f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="{TEXT}">')
    prompt = '<tspan fill="#7d8894">$</tspan> <tspan font-weight="bold">anemone demo</tspan>'
    for at, spanned in enumerate([prompt, "", *("".join(spans(line)) for line in lines)]):
        y = MARGIN + LINE * at + 14
        print(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{spanned}</text>')
    print("</g>\n</svg>")


main()
