//! A corpus of planted secrets, by which the detector is measured, and ordinary text in which it
//! must find nothing.
//!
//! Every secret is generated here from a fixed seed. Plants with an even number were used while the
//! rules were written; those with an odd number were held out, and show how well the rules do on
//! unseen secrets.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::{redact, scan, scan_file};

/// Draws characters from a fixed sequence.
struct Draw(u64);

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

impl Draw {
    fn number(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..length).map(|_| char::from(alphabet[self.number(alphabet.len())])).collect()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.number(of.len())]
    }

    fn uuid(&mut self) -> String {
        let part = |draw: &mut Self, length| draw.of(HEX, length);
        [8, 4, 4, 4, 12].map(|length| part(self, length)).join("-")
    }

    /// A body with the checksum that GitHub and npm put behind theirs.
    fn with_checksum(&mut self, length: usize) -> String {
        let body = self.of(ALNUM, length);
        let mut crc = !0_u32;
        for byte in body.bytes() {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let (mut rest, mut sum) = (!crc, Vec::new());
        for _ in 0..6 {
            sum.insert(0, digits[(rest % 62) as usize]);
            rest /= 62;
        }
        body + &String::from_utf8_lossy(&sum)
    }

    /// A number of a card that begins with `head`.
    fn card(&mut self, head: &str, length: usize) -> String {
        let mut number = head.to_owned() + &self.of(DIGITS, length - 1 - head.len());
        let sum: u32 = number
            .bytes()
            .rev()
            .enumerate()
            .map(|(place, digit)| {
                let digit = u32::from(digit - b'0');
                match place % 2 {
                    0 if digit >= 5 => digit * 2 - 9,
                    0 => digit * 2,
                    _ => digit,
                }
            })
            .sum();
        number.push(char::from(b'0' + ((10 - sum % 10) % 10) as u8));
        number
    }

    fn seed(&mut self, words: usize) -> Vec<&'static str> {
        let list: Vec<&str> = include_str!("bip39_words.txt").lines().collect();
        (0..words).map(|_| list[self.number(list.len())]).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Shaped,
    Named,
    Encoded,
}

struct Plant {
    class: Class,
    family: &'static str,
    bytes: Vec<u8>,
    /// The text that redaction must remove; in a data file it must only be reported.
    secret: Option<String>,
}

impl Plant {
    fn is_found(&self) -> bool {
        match &self.secret {
            None => !scan_file(&self.bytes).is_empty(),
            Some(secret) => {
                let redacted = redact(&self.bytes, &scan(&self.bytes)).into_owned();
                !String::from_utf8_lossy(&redacted).contains(secret.as_str())
            }
        }
    }
}

fn group(number: &str, sizes: &[usize], between: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = number;
    for size in sizes {
        let (part, behind) = rest.split_at((*size).min(rest.len()));
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts.join(between)
}

/// Secrets with a shape of their own: the vendor, and the secret.
fn shaped(draw: &mut Draw) -> Vec<(&'static str, String)> {
    let d = draw;
    let url = &format!("{ALNUM}-_");
    let aws = &format!("{ALNUM}+/");
    let id =
        |d: &mut Draw| (100_000_000_000_000_000 + d.number(899_999_999_999_999_999)).to_string();
    let jwt = {
        let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
        let body =
            URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"{}","iat":1516239022}}"#, d.of(DIGITS, 10)));
        format!("{head}.{body}.{}", d.of(url, 43))
    };
    let pem = |d: &mut Draw, label: &str| {
        let lines: Vec<String> = (0..6).map(|_| d.of(aws, 64)).collect();
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----", lines.join("\n"))
    };
    vec![
        ("openai project", format!("sk-proj-{}T3BlbkFJ{}", d.of(url, 74), d.of(url, 74))),
        ("openai legacy", format!("sk-{}T3BlbkFJ{}", d.of(ALNUM, 20), d.of(ALNUM, 20))),
        ("openai session", format!("sess-{}", d.of(ALNUM, 40))),
        ("openai service account", format!("sk-svcacct-{}", d.of(url, 120))),
        ("anthropic", format!("sk-ant-api03-{}AA", d.of(url, 93))),
        ("anthropic admin", format!("sk-ant-admin01-{}AA", d.of(url, 93))),
        ("openrouter", format!("sk-or-v1-{}", d.of(HEX, 64))),
        ("deepseek", format!("sk-{}", d.of(HEX, 32))),
        ("google", format!("AIza{}", d.of(url, 35))),
        ("google oauth", format!("GOCSPX-{}", d.of(url, 28))),
        ("google access", format!("ya29.{}", d.of(url, 160))),
        ("google refresh", format!("1//0{}", d.of(url, 90))),
        ("aws id", format!("AKIA{}", d.of(BASE32, 16))),
        ("aws temporary id", format!("ASIA{}", d.of(BASE32, 16))),
        ("azure client", format!("{}8Q~{}", d.of(ALNUM, 3), d.of(ALNUM, 34))),
        ("azure storage", format!("{}+ASt{}g==", d.of(ALNUM, 76), d.of(ALNUM, 5))),
        ("azure function", format!("{}AzFu{}==", d.of(ALNUM, 44), d.of(ALNUM, 6))),
        ("alibaba", format!("LTAI5t{}", d.of(ALNUM, 18))),
        ("github", format!("ghp_{}", d.with_checksum(30))),
        ("github server", format!("ghs_{}", d.with_checksum(30))),
        ("github oauth", format!("gho_{}", d.with_checksum(30))),
        ("github fine", format!("github_pat_{}_{}", d.of(ALNUM, 22), d.of(ALNUM, 59))),
        ("gitlab", format!("glpat-{}", d.of(url, 20))),
        ("gitlab runner", format!("glrt-{}", d.of(url, 20))),
        ("bitbucket", format!("ATBB{}", d.of(ALNUM, 32))),
        ("atlassian", format!("ATATT3x{}={}", d.of(url, 180), d.of(UPPER, 8))),
        (
            "slack bot",
            format!("xoxb-{}-{}-{}", d.of(DIGITS, 12), d.of(DIGITS, 13), d.of(ALNUM, 24)),
        ),
        (
            "slack app",
            format!("xapp-1-A{}-{}-{}", d.of(UPPER, 10), d.of(DIGITS, 13), d.of(HEX, 64)),
        ),
        (
            "slack hook",
            format!(
                "https://hooks.slack.com/services/T{}/B{}/{}",
                d.of(UPPER, 8),
                d.of(UPPER, 10),
                d.of(ALNUM, 24)
            ),
        ),
        (
            "discord",
            format!("{}.{}.{}", URL_SAFE_NO_PAD.encode(id(d)), d.of(url, 6), d.of(url, 38)),
        ),
        ("discord hook", format!("https://discord.com/api/webhooks/{}/{}", id(d), d.of(url, 68))),
        ("telegram", format!("{}:AA{}", d.of("123456789", 10), d.of(url, 33))),
        ("stripe", format!("sk_live_{}", d.of(ALNUM, 99))),
        ("stripe restricted", format!("rk_live_{}", d.of(ALNUM, 24))),
        ("stripe hook", format!("whsec_{}", d.of(ALNUM, 32))),
        ("twilio", format!("SK{}", d.of(HEX, 32))),
        ("sendgrid", format!("SG.{}.{}", d.of(url, 22), d.of(url, 43))),
        ("mailgun", format!("key-{}", d.of(HEX, 32))),
        ("mailchimp", format!("{}-us{}", d.of(HEX, 32), 1 + d.number(20))),
        ("brevo", format!("xkeysib-{}-{}", d.of(HEX, 64), d.of(ALNUM, 16))),
        ("resend", format!("re_{}_{}", d.of(ALNUM, 8), d.of(ALNUM, 24))),
        ("npm", format!("npm_{}", d.with_checksum(30))),
        ("pypi", format!("pypi-AgEIcHlwaS5vcmc{}", d.of(url, 160))),
        ("crates.io", format!("cio{}", d.of(ALNUM, 32))),
        ("rubygems", format!("rubygems_{}", d.of(HEX, 48))),
        ("nuget", format!("oy2{}", d.of(LOWER, 43))),
        ("docker hub", format!("dckr_pat_{}", d.of(url, 27))),
        ("digitalocean", format!("dop_v1_{}", d.of(HEX, 64))),
        ("heroku", format!("HRKU-AA{}", d.of(url, 58))),
        ("netlify", format!("nfp_{}", d.of(ALNUM, 36))),
        ("vercel", format!("vcp_{}", d.of(ALNUM, 56))),
        ("render", format!("rnd_{}", d.of(ALNUM, 28))),
        ("hugging face", format!("hf_{}", d.of(ALNUM, 34))),
        ("replicate", format!("r8_{}", d.of(ALNUM, 37))),
        ("groq", format!("gsk_{}", d.of(ALNUM, 52))),
        ("xai", format!("xai-{}", d.of(ALNUM, 80))),
        ("perplexity", format!("pplx-{}", d.of(ALNUM, 48))),
        ("nvidia", format!("nvapi-{}", d.of(url, 64))),
        ("cerebras", format!("csk-{}", d.of(LOWER, 48))),
        ("together", format!("tgp_v1_{}", d.of(url, 43))),
        ("fireworks", format!("fw_{}", d.of(ALNUM, 24))),
        ("jina", format!("jina_{}", d.of(ALNUM, 60))),
        ("tavily", format!("tvly-dev-{}", d.of(ALNUM, 32))),
        ("firecrawl", format!("fc-{}", d.of(HEX, 32))),
        ("pinecone", format!("pcsk_{}_{}", d.of(ALNUM, 6), d.of(ALNUM, 63))),
        ("elevenlabs", format!("sk_{}", d.of(HEX, 48))),
        ("langsmith", format!("lsv2_pt_{}_{}", d.of(HEX, 32), d.of(HEX, 10))),
        ("voyage", format!("pa-{}", d.of(url, 43))),
        ("notion", format!("ntn_{}", d.of(ALNUM, 46))),
        ("linear", format!("lin_api_{}", d.of(ALNUM, 40))),
        ("airtable", format!("pat{}.{}", d.of(ALNUM, 14), d.of(HEX, 64))),
        ("figma", format!("figd_{}", d.of(url, 40))),
        ("hubspot", format!("pat-na1-{}", d.uuid())),
        ("clickup", format!("pk_{}_{}", d.of(DIGITS, 8), d.of(UPPER, 32))),
        ("shopify", format!("shpat_{}", d.of(HEX, 32))),
        ("square", format!("sq0atp-{}", d.of(url, 22))),
        ("facebook", format!("EAAG{}", d.of(ALNUM, 180))),
        ("mapbox", format!("sk.eyJ{}.{}", d.of(ALNUM, 60), d.of(url, 22))),
        ("databricks", format!("dapi{}", d.of(HEX, 32))),
        ("vault", format!("hvs.{}", d.of(url, 90))),
        ("terraform", format!("{}.atlasv1.{}", d.of(ALNUM, 14), d.of(url, 67))),
        ("tailscale", format!("tskey-auth-{}CNTRL-{}", d.of(ALNUM, 9), d.of(ALNUM, 32))),
        ("grafana", format!("glsa_{}_{}", d.of(ALNUM, 32), d.of(HEX, 8))),
        ("new relic", format!("NRAK-{}", d.of(UPPER, 27))),
        ("sentry", format!("sntryu_{}", d.of(HEX, 64))),
        ("dynatrace", format!("dt0c01.{}.{}", d.of(UPPER, 24), d.of(UPPER, 64))),
        ("postman", format!("PMAK-{}-{}", d.of(HEX, 24), d.of(HEX, 34))),
        ("pulumi", format!("pul-{}", d.of(HEX, 40))),
        ("doppler", format!("dp.pt.{}", d.of(ALNUM, 43))),
        ("planetscale", format!("pscale_tkn_{}", d.of(url, 43))),
        ("supabase", format!("sbp_{}", d.of(HEX, 40))),
        ("neon", format!("napi_{}", d.of(LOWER, 64))),
        ("circleci", format!("CCIPAT_{}_{}", d.of(ALNUM, 22), d.of(HEX, 40))),
        ("1password", format!("ops_eyJ{}", d.of(ALNUM, 240))),
        ("posthog", format!("phx_{}", d.of(ALNUM, 43))),
        ("apify", format!("apify_api_{}", d.of(ALNUM, 36))),
        ("runpod", format!("rpa_{}", d.of(UPPER, 40))),
        ("jwt", jwt),
        ("age", format!("AGE-SECRET-KEY-1{}", d.of(UPPER, 58))),
        ("rsa", pem(d, "RSA PRIVATE KEY")),
        ("pkcs8", pem(d, "PRIVATE KEY")),
        ("openssh", pem(d, "OPENSSH PRIVATE KEY")),
        ("pgp", pem(d, "PGP PRIVATE KEY BLOCK")),
        ("bitcoin", format!("{}{}", d.one(&["K", "L"]), d.of(BASE58, 51))),
        ("extended", format!("xprv9{}", d.of(BASE58, 106))),
        ("seed of 12", d.seed(12).join(" ")),
        ("seed of 15", d.seed(15).join(" ")),
        ("seed of 18", d.seed(18).join("\n")),
        ("seed of 24", d.seed(24).join(" ")),
        (
            "seed list",
            d.seed(12)
                .iter()
                .enumerate()
                .map(|(n, w)| format!("{}. {w}\n", n + 1))
                .collect::<String>()
                .trim()
                .to_owned(),
        ),
        ("visa", d.card("4", 16)),
        ("visa in groups", group(&d.card("4", 16), &[4, 4, 4], " ")),
        ("mastercard", group(&d.card("53", 16), &[4, 4, 4], "-")),
        ("amex", group(&d.card("37", 15), &[4, 6], " ")),
        ("discover", d.card("6011", 16)),
    ]
}

/// The contexts of a shaped secret; `@` is the secret.
const PLACES: &[&str] = &[
    "@\n",
    "VALUE=@\n",
    "export X='@'\n",
    "value: @\nnext: 1\n",
    "{\"v\": \"@\"}",
    "- use `@` for now\n",
    "We took @ for staging.\n",
    "| staging | @ |\n",
    "see (@), please\n",
    "{\"text\":\"one\\n@\\nthree\"}",
    "user: here you go: @\nassistant: noted\n",
    "fetch(\"https://api.host.net/x\", { k: '@' })\n",
    "数据是@。\n",
    "<item>@</item>",
];

/// Passwords as people make them up.
const HUMAN: &[&str] = &[
    "Sommer-Krabbe-77",
    "pa55word!x",
    "hunter2-blue-Horse",
    "Winter2024!",
    "Fluffy#1987",
    "m0nkeyBusiness",
    "letMeIn!now9",
    "ILove2Hike",
    "Tr0ub4dor&3",
    "Blaubeere99",
    "kaffee.Tasse.42",
    "dragon-slayer-9",
    "Berlin1989wall",
    "xK9$mPq2",
    "ZebraCrossing7",
    "go0gleIsWatching",
    "Passw0rd!2026k",
    "summer@Beach5",
    "rosebud1941",
    "Q7-lantern-moss",
    "BobLovesPizza3",
    "n3v3rgonnagive",
    "Katze!Hund7",
    "9LivesOfACat",
    "Mittwoch_13_Uhr",
    "fr0zen.Lake",
    "Pumpkin-Spice-22",
    "redApple*Tree",
    "schnitzel4all",
    "4everYoung!",
    "T-Rex_vs_King7",
    "Oma1943Helga",
    "kiwi$Fruit88",
    "blue42Moon",
    "HarryP0tter7",
    "cafe!Noir75",
    "Tokyo2020games",
    "quiet-otter-314",
    "Gl1tzer!Staub",
    "star.Dust.1977",
];

/// Sentences in which a password is named; `@` is the password.
const SENTENCES: &[&str] = &[
    "The router password is @.",
    "my wifi password is @",
    "Please remember that the password for the NAS is @, thanks!",
    "The admin password was changed to @ yesterday.",
    "Password: @",
    "password = @",
    "The password of the staging database is still @.",
    "I set the password to @",
    "Use @ as the password.",
    "@ is the password for the printer.",
    "Log in with user anna and password @ on the new box.",
    "the passphrase is \"@\"",
    "Our Netflix password: `@`",
    "His password is now @, he told me.",
    "Wi-Fi: HomeNet, password: @",
    "- **Password:** @",
    "The guest network's password is '@'.",
    "pw: @",
    "Pass: @",
    "PW for the camera is @",
    "root password on db2 => @",
    "We rotated the password; it is now set to @ everywhere",
    "passcode is @",
    "Noted, your password is @.",
    "user: bob / password: @",
    "Credentials: admin / @",
    "login: deploy:@",
    "Das Passwort lautet @.",
    "Das WLAN-Passwort ist @.",
    "Mein Kennwort ist @, bitte merken.",
    "Passwort: @",
    "Das Passwort für den Router ist jetzt @.",
    "Ich habe das Passwort auf @ geändert.",
    "@ ist das neue Passwort.",
    "Kennwort = @",
    "Das Routerpasswort lautet @",
    "Zugangsdaten: admin / @",
    "La contraseña es @.",
    "la contraseña del wifi es @",
    "Contraseña: @",
    "Mi nueva contraseña es @, no la olvides.",
    "La clave del router es @",
    "contraseña nueva: @",
    "Le mot de passe est @.",
    "Mot de passe : @",
    "le mot de passe du wifi est @, merci",
    "Mon mot de passe est maintenant @.",
    "mdp: @",
    "Le mdp du serveur est @",
    "密码是@",
    "密码：@",
    "路由器的密码是 @。",
    "我的密码改成了@，请记住",
    "密碼為 @",
    "登录口令：@",
    "パスワードは@です。",
    "パスワード：@",
    "Wi-Fiのパスワードは「@」です",
    "新しいパスワードは @ です",
    "A senha é @.",
    "senha: @",
    "Het wachtwoord is @.",
    "The password for Lena's laptop in the living room is @.",
    "Database password (prod): @",
    "don't forget: the alarm system password is @!",
    "FYI the VPN passphrase is @",
    "Remember this: email password @",
    "New password -> @",
    "I changed my password from the old one to @",
    "Her password's @, I think.",
];

/// Files in which a password has a name; `@` is the password.
const CONFIGS: &[&str] = &[
    "DB_PASSWORD=@\n",
    "export SMTP_PASSWORD=\"@\"\n",
    "MYSQL_ROOT_PASSWORD='@'\n",
    "REDIS_PASS=@\n",
    "database:\n  user: app\n  password: @\n",
    "password: \"@\"\n",
    "{\"user\": \"ada\", \"password\": \"@\"}",
    "{\"password\":\"@\",\"host\":\"db\"}",
    "[db]\npassword = \"@\"\n",
    "password = '@'\n",
    "[client]\nuser=root\npassword=@\n",
    "<password>@</password>\n",
    "passwd: @\n",
    "const password = \"@\";\n",
    "spring.datasource.password=@\n",
    "wifi:\n  ssid: Home\n  psk: \"@\"\n",
    "network={\n  ssid=\"Home\"\n  psk=\"@\"\n}\n",
    "\"smtpPass\": \"@\",\n",
    "machine git.host.net login bot password @\n",
    "machine git.host.net\n  login bot\n  password @\n",
    "postgres://app:@@db.host.net:5432/app\n",
    "mysql -u root --password=@ shop\n",
    "curl -u admin:@ https://host.net/\n",
    "db.host.net:5432:shop:app:@\n",
    "| account | password |\n|---|---|\n| Password | @ |\n",
    "{\"text\":\"login\\npassword: @\\nbye\"}",
    "{\\\"password\\\": \\\"@\\\"}",
    "password:\n  @\n",
    "ftp://anna:@@files.host.net/\n",
    "--password @ --verbose\n",
];

fn named(draw: &mut Draw) -> Vec<(&'static str, String, String)> {
    let d = draw;
    let mut all = Vec::new();
    // A sentence is in the same half both times, so that each half has its own sentences.
    assert!(
        SENTENCES.len().is_multiple_of(2) && CONFIGS.len().is_multiple_of(2),
        "or the halves would mix"
    );
    for shift in [0, 19] {
        for (at, sentence) in SENTENCES.iter().enumerate() {
            let human = HUMAN[(at * 7 + shift) % HUMAN.len()];
            all.push(("password in prose", sentence.replace('@', human), human.to_owned()));
        }
    }
    for shift in [3, 24] {
        for (at, config) in CONFIGS.iter().enumerate() {
            let human = HUMAN[(at * 11 + shift) % HUMAN.len()];
            // An address has its own characters.
            let human = if config.contains("@@") || config.contains(":5432:") {
                human.replace(['#', '@', '*', '$', '&', '!'], "-")
            } else if config.contains('<') || config.contains("--") {
                human.replace(['&', '$'], "-")
            } else {
                human.to_owned()
            };
            let text = config.replacen('@', &human, 1);
            all.push(("password in a file", text, human));
        }
    }
    for phrase in ["correct horse battery", "purple turtle sandwich", "mango velvet thunder lamp"] {
        for sentence in [
            "the password is \"@\"",
            "The passphrase is @.",
            "password: @\n",
            "DB_PASSWORD=\"@\"\n",
            "{\"password\": \"@\"}",
        ] {
            all.push(("phrase", sentence.replace('@', phrase), phrase.to_owned()));
        }
    }
    for (sentence, length) in [
        ("The PIN of my card is @.", 4),
        ("PIN: @", 4),
        ("my phone's pin is @", 6),
        ("alarm code is @", 5),
        ("door code: @", 4),
        ("Die PIN lautet @.", 4),
        ("暗証番号は@です", 4),
        ("the gate code is @#", 4),
    ] {
        for _ in 0..2 {
            let pin = d.of("3456789", length);
            all.push(("pin", sentence.replace('@', &pin), pin));
        }
    }
    for sentence in [
        "Cookie: session=@; theme=dark\n",
        "Set-Cookie: sid=@; Path=/; HttpOnly\n",
        "cookie: auth_token=@\n",
        "-H 'Cookie: JSESSIONID=@'",
        "\"Cookie\": \"connect.sid=@; lang=de\"",
        "PHPSESSID=@\n",
    ] {
        for _ in 0..2 {
            let value = d.of(ALNUM, 32);
            all.push(("cookie", sentence.replace('@', &value), value));
        }
    }
    for sentence in [
        "Authorization: Bearer @\n",
        "Authorization: Token @\n",
        "authorization: @\n",
        "X-Api-Key: @\n",
        "'Authorization': 'ApiKey @'",
        "X-Auth-Token: @\n",
        "-H \"Authorization: token @\"",
        "https://api.host.net/v1?access_token=@&q=1",
        "https://host.net/?api_key=@",
        "https://host.net/x?token=@",
        "API_KEY=@\n",
        "api_key: @\n",
        "\"apiKey\": \"@\"",
        "client_secret = \"@\"\n",
        "the api key is @",
        "The access token for CI is @.",
        "secret: @\n",
        "STRIPE_SECRET=@\n",
        "auth_token = '@'\n",
        "my secret key is @",
        "token=@\n",
        "AWS_SECRET_ACCESS_KEY=@\n",
        "signing_secret: '@'\n",
    ] {
        for _ in 0..2 {
            let value = d.of(ALNUM, 40);
            all.push(("named token", sentence.replace('@', &value), value));
        }
    }
    all
}

/// Secrets that are written in another way; `None` for a file of data.
fn encoded(draw: &mut Draw) -> Vec<(&'static str, Vec<u8>, Option<String>)> {
    let d = draw;
    let mut all: Vec<(&'static str, Vec<u8>, Option<String>)> = Vec::new();
    for round in 0..10 {
        let all_shaped = shaped(d);
        let secret = all_shaped[(round * 13 + 4) % 60].1.clone();
        let human = HUMAN[(round * 9 + 5) % HUMAN.len()];
        let lines = [
            secret.clone(),
            format!("API_KEY={secret}"),
            format!("password: {human}"),
            format!("{{\"token\": \"{secret}\"}}"),
        ];
        let line = &lines[round % 4];
        let base64 = STANDARD.encode(line);
        let place = ["data: @\n", "@", "blob = \"@\"\n", "see @ in the log\n"][round % 4];
        all.push(("base64", place.replace('@', &base64).into(), Some(base64)));
        let url64 = URL_SAFE_NO_PAD.encode(line);
        all.push(("base64 of URLs", place.replace('@', &url64).into(), Some(url64)));
        let hex: String = line.bytes().map(|byte| format!("{byte:02x}")).collect();
        all.push(("hexadecimal", place.replace('@', &hex).into(), Some(hex)));
        // One prefixed token, cut in its middle.
        let token = format!(
            "{}{}",
            ["ghp_", "glpat-", "sk-proj-", "npm_", "hf_"][round % 5],
            d.of(ALNUM, 36)
        );
        let (head, tail) = token.split_at(token.len() / 2 + round % 3);
        let cut = [
            format!("{head}\n{tail}\n"),
            format!("key: {head}\n     {tail}\n"),
            format!("\"{head}\" +\n  \"{tail}\";\n"),
            format!("{head}\\\n{tail}\n"),
        ];
        all.push(("split over lines", cut[round % 4].clone().into(), Some(tail.to_owned())));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(format!("some log\n{line}\nmore of it\n").as_bytes())
            .expect("memory takes it");
        let gzip = gzip.finish().expect("memory takes it");
        all.push(("gzip", gzip.clone(), None));
        let packed = STANDARD.encode(&gzip);
        all.push(("gzip in base64", format!("x: {packed}\n").into(), Some(packed)));
        let wide = format!("line one\n{line}\n");
        let unit = if round % 2 == 0 { u16::to_le_bytes } else { u16::to_be_bytes };
        all.push(("UTF-16", wide.encode_utf16().flat_map(unit).collect(), None));
        let hidden = ["\u{200b}", "\u{200d}", "\u{feff}", "\u{2060}", "\u{ad}"][round % 5];
        let middle = secret.len() / 2;
        let (a, b) = secret.split_at(middle);
        all.push(("zero width", format!("key {a}{hidden}{b}\n").into(), Some(b.to_owned())));
        let (a, b) = human.split_at(3);
        all.push((
            "zero width in a password",
            format!("the password is {a}{hidden}{b}\n").into(),
            Some(b.to_owned()),
        ));
        let percent: String = line
            .bytes()
            .map(|byte| match byte {
                byte if byte.is_ascii_alphanumeric() && round % 2 == 0 => {
                    char::from(byte).to_string()
                }
                byte => format!("%{byte:02X}"),
            })
            .collect();
        all.push(("percent", format!("https://host.net/?q={percent}\n").into(), Some(percent)));
        let json =
            format!("{{\"note\": \"{}\"}}", line.replace('"', "\\\"").replace('=', "\\u003d"));
        let kept = if round % 4 == 2 { human.to_owned() } else { secret.clone() };
        all.push(("escaped in JSON", json.into(), Some(kept.replace('=', "\\u003d"))));
        let pem = STANDARD.encode(format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            d.of(ALNUM, 64)
        ));
        all.push(("key of a cluster", format!("client-key-data: {pem}\n").into(), Some(pem)));
    }
    all
}

fn corpus() -> Vec<Plant> {
    let mut draw = Draw(0x5eed_0f41_0000_0001);
    let mut plants = Vec::new();
    for round in 0..2 {
        for (at, (family, secret)) in shaped(&mut draw).into_iter().enumerate() {
            let place = if secret.contains('\n') {
                ["@\n", "key:\n@\n"][round]
            } else {
                PLACES[(at * 5 + round * 3) % PLACES.len()]
            };
            let text = place.replacen('@', &secret, 1);
            let gone = match family {
                "slack hook" | "discord hook" | "terraform" => {
                    secret[secret.len() - 20..].to_owned()
                }
                _ => secret,
            };
            plants.push(Plant {
                class: Class::Shaped,
                family,
                bytes: text.into(),
                secret: Some(gone),
            });
        }
    }
    for (family, text, secret) in named(&mut draw) {
        plants.push(Plant {
            class: Class::Named,
            family,
            bytes: text.into(),
            secret: Some(secret),
        });
    }
    for (family, bytes, secret) in encoded(&mut draw) {
        plants.push(Plant { class: Class::Encoded, family, bytes, secret });
    }
    plants
}

/// Returns the number of plants of a class in one half, and the missed ones.
fn measure(class: Class, half: usize) -> (usize, Vec<String>) {
    let plants = corpus();
    let of_half =
        plants.iter().enumerate().filter(|(at, plant)| at % 2 == half && plant.class == class);
    let of_half: Vec<_> = of_half.collect();
    let missed = of_half.iter().filter(|(_, plant)| !plant.is_found());
    let show = |(at, plant): &(usize, &Plant)| {
        format!("{at} {}: {:?}", plant.family, String::from_utf8_lossy(&plant.bytes))
    };
    (of_half.len(), missed.map(show).collect())
}

fn check(half: usize) {
    for (class, least) in [(Class::Shaped, 98), (Class::Named, 90), (Class::Encoded, 70)] {
        let (count, missed) = measure(class, half);
        let found = count - missed.len();
        println!("{class:?}: {found} of {count}");
        assert!(
            found * 100 >= count * least,
            "{class:?}: {found} of {count}\n{}",
            missed.join("\n")
        );
        missed.iter().for_each(|missed| println!("  {missed}"));
    }
}

#[test]
fn the_corpus_has_many_plants_of_many_kinds() {
    let plants = corpus();
    let families: std::collections::HashSet<_> = plants.iter().map(|plant| plant.family).collect();
    assert!(plants.len() >= 400 && families.len() >= 45, "{} of {}", plants.len(), families.len());
}

#[test]
fn the_half_that_was_looked_at_is_found() {
    check(0);
}

#[test]
fn the_half_that_was_kept_apart_is_found() {
    check(1);
}

/// Sentences that speak of passwords and name none.
const HARMLESS: &[&str] = &[
    "The password is on the note in the kitchen.",
    "Send them the password reset link, please.",
    "I forgot my password again.",
    "password: ask Tom",
    "The password is stored in the vault.",
    "The password must be at least 12 characters long.",
    "Our password policy: 12 characters, no expiry.",
    "The password manager is 1Password.",
    "My password expires on 2026-03-01.",
    "The password was changed on 2024-05-01 by Lin.",
    "Passwords are hashed with SHA256 and a salt.",
    "He asked for the password to db01 twice.",
    "Das Passwort ist abgelaufen.",
    "Das Passwort liegt im Tresor.",
    "La contraseña es obligatoria.",
    "Le mot de passe est oublié.",
    "密码忘记了，需要重置。",
    "密码长度至少8位",
    "パスワードを忘れました。",
    "The PIN is printed on the back of the card.",
    "Pin the version to 2024 in the config.",
    "max_tokens: 4096",
    "The token bucket has 10000 tokens per minute.",
    "login: required",
    "Tests: 1200 pass, 3 fail",
];

/// Generated lines of the kinds that machines write.
fn ordinary(draw: &mut Draw) -> String {
    let d = draw;
    let picture = STANDARD.encode(
        [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], d.of(ALNUM, 60).as_bytes(), &[0, 255, 130, 7]]
            .concat(),
    );
    let lines = [
        format!("commit {}", d.of(HEX, 40)),
        format!("id: {}", d.uuid()),
        format!("sha256:{}  file-{}.tar.gz", d.of(HEX, 64), d.number(99)),
        format!(
            "2026-03-{:02}T10:{:02}:{:02}.123Z INFO request {} took {} ms",
            1 + d.number(28),
            d.number(60),
            d.number(60),
            d.uuid(),
            d.number(9999)
        ),
        format!(
            "call +49 {} {} or (555) 010-{}",
            d.of(DIGITS, 3),
            d.of(DIGITS, 7),
            d.of(DIGITS, 4)
        ),
        format!("ISBN 978-3-{}-{}-{}", d.of(DIGITS, 2), d.of(DIGITS, 6), d.number(10)),
        format!(
            "https://host.net/a/b-{}?page={}&ref=mail#part-{}",
            d.of(LOWER, 8),
            d.number(99),
            d.number(9)
        ),
        format!("![x](data:image/png;base64,{picture})"),
        format!(
            "let total_{} = compute(items[{}], \"name-{}\", 0x{});",
            d.number(9),
            d.number(99),
            d.number(999),
            d.of(HEX, 8)
        ),
        format!(
            "DE{} {} {} {} {} {}",
            d.of(DIGITS, 2),
            d.of(DIGITS, 4),
            d.of(DIGITS, 4),
            d.of(DIGITS, 4),
            d.of(DIGITS, 4),
            d.of(DIGITS, 2)
        ),
        format!("[{}, {}, 0.{}]", d.of("123456789", 16), d.of("123456789", 15), d.of(DIGITS, 17)),
        format!("order 1{} shipped, tracking 1Z{}", d.of(DIGITS, 9), d.of(UPPER, 16)),
        d.one(HARMLESS).to_owned(),
    ];
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[test]
fn a_secret_is_found_at_either_end_of_a_text() {
    for text in ["Use Regen77x as password", "We decided to use Regen77x as the router password"] {
        let kinds: Vec<_> = scan(text.as_bytes()).into_iter().map(|hit| hit.kind).collect();
        assert_eq!(kinds, ["password"], "{text}");
    }
    let words = "army van defense carry jealous true garbage claim echo media make crunch";
    for before in ["", "Seed: ", "My words, in order, are "] {
        let numbered = words.split(' ').enumerate();
        let numbered = numbered.map(|(at, word)| format!("{}. {word}", at + 1));
        let text = format!("{before}{}", numbered.collect::<Vec<_>>().join(" "));
        let kinds: Vec<_> = scan(text.as_bytes()).into_iter().map(|hit| hit.kind).collect();
        assert_eq!(kinds, ["seed_phrase"], "{text}");
    }
}

#[test]
fn that_a_password_matters_is_no_password() {
    for text in [
        "Das Passwort ist wichtig.",
        "La contraseña es importante.",
        "A senha é importante.",
        "Het wachtwoord is belangrijk.",
        "contraseña: ninguna",
    ] {
        assert_eq!(scan(text.as_bytes()), [], "{text}");
    }
}

#[test]
fn ordinary_text_raises_no_alarm() {
    let mut draw = Draw(0x0dd1_4a12_7e57_0001);
    let mut chunks: Vec<String> = (0..2_000).map(|_| ordinary(&mut draw)).collect();
    chunks.extend(HARMLESS.iter().map(|text| (*text).to_owned()));
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for entry in fs_err::read_dir(docs).expect("the documentation is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            chunks.push(fs_err::read_to_string(path).expect("it is text"));
        }
    }
    let alarms: Vec<String> = chunks
        .iter()
        .flat_map(|text| {
            scan(text.as_bytes())
                .into_iter()
                .map(|hit| format!("{} {:?}", hit.kind, &text[hit.range]))
        })
        .collect();
    assert!(
        alarms.len() * 2_000 <= chunks.len(),
        "{} in {}:\n{}",
        alarms.len(),
        chunks.len(),
        alarms.join("\n")
    );
}
