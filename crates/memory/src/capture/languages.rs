//! The rules, one table a language; see [`crate::phrase`] for how they are written.

/// What people say when something is worth remembering.
#[derive(Debug)]
pub(super) struct Language {
    /// What they like or want done.
    pub(super) preference: &'static [&'static str],
    /// What they decided.
    pub(super) decision: &'static [&'static str],
    /// Who a person is.
    pub(super) entity: &'static [&'static str],
    /// That something is to be remembered.
    pub(super) remember: &'static [&'static str],
    /// What makes all of this a question, a supposition or a courtesy.
    pub(super) unless: &'static [&'static str],
}

pub(super) const LANGUAGES: [Language; 6] = [ENGLISH, GERMAN, SPANISH, FRENCH, CHINESE, JAPANESE];

const ENGLISH: Language = Language {
    preference: &[
        "i prefer|i like|i love|i hate|i dislike|i enjoy|i adore|i detest",
        "i don't like|i do not like|i can't stand|i cannot stand|i really like|i really love",
        "i much prefer|i'd rather|i would rather|i always|i never|i usually|i only use",
        "my favorite|my favourite|my preferred|my preference",
        "please always|please never|always use|never use|don't ever|do not ever",
        "call me|i'm allergic|i am allergic|i'm vegetarian|i am vegetarian|i'm vegan|i am vegan",
    ],
    decision: &[
        "we decided|i decided|we've decided|i've decided|we have decided|i have decided",
        "we agreed|we've agreed|we settled on|i settled on|we chose|i chose|we've chosen",
        "we will use|we'll use|we're going with|we are going with|i'm going with|let's go with",
        "we'll go with|we will go with|from now on|going forward|decision:|the decision is",
    ],
    entity: &[
        "my name is|i'm called|i am called|my nickname is",
        "my phone|my email|my e-mail|my address|my number is|my birthday|my handle is",
        "my wife|my husband|my partner|my son|my daughter|my boss|my manager|my mother|my father",
        "my sister|my brother|my dog|my cat … is|is called|works|lives|likes|has|was",
        "i live in|i work at|i work for|i work as|i was born|i moved to|i'm from|i am from",
        "'s birthday is|'s phone|'s email|'s number is",
    ],
    remember: &[
        "remember that|remember:|remember my|remember this|please remember|remember to|remember i",
        "don't forget|do not forget|never forget|keep in mind|bear in mind|for the record",
        "make a note|note that|take note|memorize|memorise|for future reference",
    ],
    unless: &[
        "do you remember|i remember|i don't remember|can't remember|remember when|if you remember",
        "i like it|i like this|i like that|i like your|i like how|i like where|i like the idea",
        "i love it|i love this|i love that|i love your|i love how|i hate this|i hate it|i hate that",
        "i hate to|i'd love to|i would love to|i'd like|i would like|i like to think",
        "if i|if we|what if|whether|should i|should we|would i|have we|have i|did i|did we|suppose",
        "we haven't decided|haven't decided|not decided|never mind|i never said|i always forget",
        "call me when|call me back|call me later|i don't know|maybe|perhaps|might",
    ],
};

const GERMAN: Language = Language {
    preference: &[
        "ich mag|ich bevorzuge|ich liebe|ich hasse|ich verabscheue",
        "ich trinke|ich esse|ich nutze|ich benutze|ich verwende|ich arbeite … immer|nie|lieber|am liebsten|kein~|niemals",
        "am liebsten … ich",
        "mir ist … lieber",
        "ich möchte|ich will … immer|nie|lieber|keine",
        "mein liebling~|meine liebling~|nenn mich|nenne mich|ich bin allergisch",
        "ich bin vegetarier~|ich bin vegan~|bitte immer|bitte nie|bitte niemals",
    ],
    decision: &[
        "wir haben … entschieden|beschlossen|geeinigt|festgelegt",
        "ich habe … entschieden|beschlossen",
        "wir nehmen|wir verwenden|wir nutzen|wir bleiben bei|wir setzen auf",
        "ab sofort|ab jetzt|von nun an|in zukunft|künftig|entscheidung:",
    ],
    entity: &[
        "ich heiße|ich heisse|mein name ist",
        "meine telefonnummer|meine handynummer|meine nummer|meine e-mail|meine mail|meine adresse",
        "ich wohne|ich lebe in|ich arbeite bei|ich arbeite als|ich arbeite für|ich komme aus",
        "mein geburtstag",
        "hat am … geburtstag",
        "meine frau|mein mann|mein sohn|meine tochter|mein chef|meine chefin|meine mutter|mein vater|mein bruder|meine schwester|mein hund|meine katze",
    ],
    remember: &[
        "merk dir|merke dir|merken sie sich|vergiss nicht|vergessen sie nicht",
        "denk daran|denke daran|denk dran|behalte im kopf|behalte im hinterkopf",
        "notier dir|notiere dir|notiere|halte fest|zur erinnerung",
    ],
    unless: &[
        "erinnerst du|magst du|weißt du|haben wir|soll ich|sollen wir|sollten wir|kannst du",
        "ich mag das|ich mag es|ich liebe es|ich liebe das|ich hasse es|ich hasse das",
        "nicht entschieden|noch nicht|wenn ich|falls|ob wir|ob ich|vielleicht|angenommen",
        "ich mag die idee|ich mag deine|ich möchte wissen|nehmen wir an|ich mag nicht mehr",
    ],
};

const SPANISH: Language = Language {
    preference: &[
        "prefiero|me gusta|me gustan|me encanta|me encantan|odio|detesto|no soporto",
        "no me gusta|no me gustan|siempre uso|nunca uso|siempre utilizo|nunca utilizo",
        "mi|mis … favorito|favorita|favoritos|favoritas|preferido|preferida",
        "llámame|soy alérgico|soy alérgica|soy vegetariano|soy vegetariana|soy vegano|soy vegana",
        "siempre bebo|nunca bebo|siempre como|nunca como",
    ],
    decision: &[
        "hemos decidido|decidimos|he decidido|decidí|acordamos|hemos acordado|elegimos|elegí",
        "vamos a usar|usaremos|vamos a utilizar|utilizaremos|nos quedamos con|optamos por",
        "a partir de ahora|de ahora en adelante|desde ahora|decisión:",
    ],
    entity: &[
        "me llamo|mi nombre es|mi apodo es",
        "mi correo|mi teléfono|mi número|mi dirección|mi email|mi cumpleaños",
        "vivo en|trabajo en|trabajo para|trabajo como|soy de|nací en",
        "mi esposa|mi esposo|mi marido|mi mujer|mi hijo|mi hija|mi jefe|mi jefa|mi madre|mi padre|mi hermano|mi hermana|mi perro|mi gato",
    ],
    remember: &[
        "recuerda que|recuerda:|recuerda mi|recuerde que|no olvides|no olvide|no te olvides",
        "ten en cuenta|ten presente|tenga en cuenta|apunta|anota|toma nota|que conste",
    ],
    unless: &[
        "recuerdas|no recuerdo|recuerdo cuando|te gusta|prefieres|deberíamos|debería",
        "me gusta eso|me gusta esto|me gusta esa|me gusta ese|me gusta esta|me gusta este|me gusta la idea|me gusta tu|me gusta cómo",
        "me encanta eso|me encanta tu|me encanta la idea",
        "aún no|todavía no|no hemos decidido|si prefiero|si me gusta|si vivo|quizás|quizá|tal vez|supongamos",
    ],
};

const FRENCH: Language = Language {
    preference: &[
        "je préfère|j'aime|j'adore|je déteste|je n'aime pas|je ne supporte pas|j'apprécie",
        "j'utilise toujours|je n'utilise jamais|j'utilise jamais|je bois toujours|je ne bois jamais|je ne mange pas|je ne mange jamais",
        "mon|ma|mes … préféré|préférée|préférés|préférées|favori|favorite",
        "appelle-moi|appelez-moi|je suis allergique|je suis végétarien|je suis végétarienne|je suis vegan",
    ],
    decision: &[
        "nous avons décidé|on a décidé|j'ai décidé|nous avons choisi|on a choisi|j'ai choisi",
        "on part sur|nous partons sur|nous utiliserons|on va utiliser|nous allons utiliser|on garde",
        "désormais|à partir de maintenant|dorénavant|on s'est mis d'accord|nous sommes convenus|décision:|décision :",
    ],
    entity: &[
        "je m'appelle|mon nom est|mon surnom est|mon prénom est",
        "mon adresse|mon e-mail|mon email|mon mail|mon courriel|mon numéro|mon téléphone|mon anniversaire",
        "j'habite|je vis à|je travaille chez|je travaille à|je travaille pour|je travaille comme|je viens de|je suis né|je suis née",
        "ma femme|mon mari|mon fils|ma fille|mon patron|mon chef|ma mère|mon père|mon frère|ma sœur|mon chien|mon chat",
    ],
    remember: &[
        "souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|n'oublie pas|n'oubliez pas",
        "retiens|retenez|garde en tête|gardez en tête|note que|notez que|prends note|pour mémoire",
    ],
    unless: &[
        "tu te souviens|te souviens-tu|je ne me souviens|je me souviens|est-ce que|tu aimes|aimes-tu|devrions-nous|dois-je",
        "j'aime ça|j'aime cette|j'aime ce|j'aime ton|j'aime bien cette|j'aime bien ton|j'aime l'idée|j'aime bien l'idée|j'adore ça|j'adore cette|j'adore l'idée",
        "j'aimerais|pas encore|si je|si on|si nous|peut-être|supposons|je viens de faire|je viens de finir|je viens de voir|je viens de lancer",
    ],
};

const CHINESE: Language = Language {
    preference: &[
        "我喜欢|我更喜欢|我最喜欢|我不喜欢|我讨厌|我偏好|我爱|我习惯|我从不|我总是|我一直用|我宁愿",
        "我喜歡|我更喜歡|我最喜歡|我不喜歡|我討厭|我習慣|我從不|我總是",
        "叫我|我吃素|我是素食",
        "我对 … 过敏",
    ],
    decision: &[
        "我们决定|我决定|我们已经决定|决定使用|决定用|决定采用|我们选择|我们选了|我们同意|我们商定",
        "我們決定|我決定|我們選擇|我們同意|從現在起|以後都",
        "以后都|从现在起|从今以后|今后|就这么定了|我们就用|最终选",
    ],
    entity: &[
        "我叫|我的名字|我姓|我住在|我的电话|我的手机|我的邮箱|我的地址|我的生日|我来自",
        "我在 … 工作|上班|任职",
        "我妻子|我老婆|我丈夫|我老公|我儿子|我女儿|我的老板|我妈妈|我爸爸|我哥哥|我姐姐|我弟弟|我妹妹|我的狗|我的猫|我的妻子|我的丈夫|我的儿子|我的女儿",
        "我的電話|我的郵箱|我太太|我先生",
    ],
    remember: &[
        "记住|请记住|别忘了|不要忘记|不要忘了|请记得|记一下|牢记|记下来|帮我记",
        "記住|別忘了|不要忘記|請記得|記一下|記下來",
    ],
    unless: &[
        "吗|嗎|呢|还记得|你记得|不记得|记不住|记不得|還記得|如果|要是|假如|要不要|是否|也许|可能|或许",
        "还没决定|没有决定|尚未决定|還沒決定|我喜欢这个想法|我喜欢这个主意|我喜欢这样|我喜欢它|我喜欢你的|叫我怎么",
    ],
};

const JAPANESE: Language = Language {
    preference: &[
        "が好き|が大好き|が一番好き|が嫌い|が苦手|のほうが好き|の方が好き|を好みます|好みは|は好きではありません|は好きじゃない",
        "いつも … 使います|使っています|使う|飲みます|食べます",
        "は使わない|は使いません|は食べません|は飲みません|と呼んで|アレルギーがあ|ベジタリアン",
    ],
    decision: &[
        "に決めた|に決めました|に決まりました|に決定し|ことにした|ことにしました|ことに決め",
        "今後は|これからは|以後は|を採用し|を選びました|で合意し",
    ],
    entity: &[
        "私の名前は|と申します|といいます|と言います|に住んでいます|に住んでいる|に住んでます",
        "で働いています|で働いている|に勤めています|に勤務して|電話番号は|メールアドレスは|住所は|誕生日は|出身です",
        "私の妻|私の夫|私の息子|私の娘|私の上司|私の母|私の父|妻は|夫は|息子は|娘は|うちの犬|うちの猫",
    ],
    remember: &[
        "覚えておいて|覚えといて|覚えてください|覚えて下さい|忘れないで|メモして|メモしておいて|記憶して|記録しておいて|念のため",
    ],
    unless: &[
        "ですか|ますか|でしょうか|ましたか|覚えていますか|覚えてる|覚えていない|覚えてない|もし|かもしれ|好きなら",
        "まだ決め|決めていない|決めていません|決まっていない|そのアイデアが好き|この案が好き|その考えが好き|だろうか|多分|たぶん",
    ],
};
