//! The words that are in every text of a language: what its grammar is made of.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use super::fold::{fold, lower};
use super::language::Language;

/// A language with a list of common words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopwordList {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    Swedish,
    Danish,
    Norwegian,
    Finnish,
    Polish,
    Turkish,
    Hungarian,
    Romanian,
    Indonesian,
    Russian,
    Ukrainian,
    Arabic,
    Greek,
    /// Chinese, Japanese and Korean: particles and question words, one or two characters long.
    Spaceless,
}

/// How many languages have a list.
pub(super) const LIST_COUNT: usize = LISTS.len();

/// Some of the languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StopwordLists(u32);

impl StopwordLists {
    pub(super) const fn of(list: StopwordList) -> Self {
        Self(1 << list as u32)
    }

    pub(super) const fn and(self, list: StopwordList) -> Self {
        Self(self.0 | 1 << list as u32)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The places of the languages in [`LISTS`].
    pub(super) fn places(self) -> impl Iterator<Item = usize> {
        (0..LIST_COUNT).filter(move |place| self.0 & (1 << place) != 0)
    }
}

/// Returns the languages in which a folded word is common.
pub(super) fn common(folded: &str) -> StopwordLists {
    TABLE.get(&xxh3_64(folded.as_bytes())).copied().unwrap_or_default()
}

static TABLE: LazyLock<HashMap<u64, StopwordLists, BuildHasherDefault<AsItIs>>> =
    LazyLock::new(|| {
        let mut table = HashMap::with_capacity_and_hasher(4096, BuildHasherDefault::default());
        let (mut lowered, mut folded) = (String::new(), String::new());
        for (list, _, words) in LISTS {
            for word in words.split_ascii_whitespace() {
                lowered.clear();
                folded.clear();
                lower(word, &mut lowered);
                fold(&lowered, &mut folded);
                let lists: &mut StopwordLists =
                    table.entry(xxh3_64(folded.as_bytes())).or_default();
                *lists = lists.and(*list);
            }
        }
        table
    });

/// The keys are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// The lists, in the order of [`StopwordList`], each with the language of which it is a sign.
pub(super) const LISTS: &[(StopwordList, Language, &str)] = &[
    (StopwordList::English, Language::English, ENGLISH),
    (StopwordList::German, Language::German, GERMAN),
    (StopwordList::French, Language::French, FRENCH),
    (StopwordList::Spanish, Language::Spanish, SPANISH),
    (StopwordList::Portuguese, Language::Portuguese, PORTUGUESE),
    (StopwordList::Italian, Language::Italian, ITALIAN),
    (StopwordList::Dutch, Language::Dutch, DUTCH),
    (StopwordList::Swedish, Language::Swedish, SWEDISH),
    (StopwordList::Danish, Language::Danish, DANISH),
    (StopwordList::Norwegian, Language::Norwegian, NORWEGIAN),
    (StopwordList::Finnish, Language::Finnish, FINNISH),
    (StopwordList::Polish, Language::Other, POLISH),
    (StopwordList::Turkish, Language::Turkish, TURKISH),
    (StopwordList::Hungarian, Language::Hungarian, HUNGARIAN),
    (StopwordList::Romanian, Language::Romanian, ROMANIAN),
    (StopwordList::Indonesian, Language::Other, INDONESIAN),
    (StopwordList::Russian, Language::Russian, RUSSIAN),
    (StopwordList::Ukrainian, Language::Other, UKRAINIAN),
    (StopwordList::Arabic, Language::Arabic, ARABIC),
    (StopwordList::Greek, Language::Greek, GREEK),
    (StopwordList::Spaceless, Language::English, SPACELESS),
];

// `may` is a month, `will` a name, `well`, `ill` and `shell` are words: they are not in the list.
const ENGLISH: &str = "
    a an the this that these those
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what when where why how
    am is are was were be been being isnt arent wasnt werent aint
    do does did done doing dont doesnt didnt
    have has had having havent hasnt hadnt
    can could cannot cant couldnt would wouldnt shall should shouldnt might must mustnt wont
    im ive youre youve theyre theyve thats whats lets
    and or but nor so if then than because while although though unless until since
    of at by for with about against between into through during before after above below
    to from up down in out on off over under again upon within without toward towards
    not no any all some each both few more most such other another only same own too very
    just also there here as ever yet still etc eg ie
    get got";

const GERMAN: &str = "
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner
    ich mich mir du dich dir er ihn ihm sie ihr ihnen es wir uns euch sich man
    mein meine meinen meinem meiner dein deine deinen deinem deiner
    sein seine seinen seinem seiner seines ihre ihren ihrem ihrer ihres
    unser unsere unseren unserem unserer euer eure
    dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden
    wer wen wem wessen was welche welcher welches welchen welchem
    wann wo wohin woher warum wieso weshalb wie wieviel womit wofür worüber woran
    bin bist ist sind seid war waren warst gewesen wäre wären
    habe hast hat haben habt hatte hatten hätte hätten gehabt
    werde wirst wird werden wurde wurden worden würde würden
    kann kannst können konnte konnten könnte muss musst müssen musste mussten
    soll sollen sollte sollten will willst wollen wollte wollten darf dürfen mag möchte
    und oder aber denn sondern sowie wenn als ob dass weil damit obwohl während bevor nachdem
    in im ins an am ans auf aus bei beim mit nach seit von vom vor zu zum zur zwischen
    über unter um durch für gegen ohne bis wegen trotz neben hinter
    nicht nichts nur auch noch schon sehr so da dann dort hier doch ja nein mehr mal etwa
    alle allem allen aller alles einige etwas viel viele davon dazu dabei darauf darüber";

const FRENCH: &str = "
    le la les un une des du de au aux l d
    je me moi tu te toi il elle on nous vous ils elles se soi lui leur leurs y en eux
    mon ma mes ton ta tes son sa ses notre nos votre vos
    ce cet cette ces cela ça ceci celui celle ceux celles
    qui que quoi dont où quand comment pourquoi combien quel quelle quels quelles lequel laquelle
    suis es est sommes êtes sont étais était étions étaient été être sera seront serait soit
    ai as a avons avez ont avais avait avions avaient eu avoir aura auront aurait
    fait faire fais font peut peux peuvent pouvait pouvoir doit dois doivent
    va vais vont aller
    et ou mais donc or ni car si lorsque puisque parce comme
    à dans par pour sur sous avec sans entre vers chez contre depuis pendant avant après jusque
    ne pas plus point rien jamais non oui aussi très trop bien encore déjà même
    tout toute tous toutes autre autres quelque quelques chaque aucun aucune
    ici là alors ainsi puis donc afin qu c j m n s t";

const SPANISH: &str = "
    el la los las lo un una unos unas al del de
    yo me mí tú te ti él ella ello nosotros nosotras vosotros ellos ellas usted ustedes se sí le les
    nos os mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra
    este esta esto estos estas ese esa eso esos esas aquel aquella aquello
    que qué quien quién quienes quiénes cual cuál cuales cuáles cuando cuándo donde dónde como cómo
    cuanto cuánto cuanta cuánta cuantos cuántos cuántas por qué
    soy eres es somos son era eras eran fue fueron fui ser sido siendo será serán sería
    estoy está están estamos estaba estaban estuvo estar estado
    he has ha hemos han había habían hay haber hubo
    tengo tiene tienen tenía tener puede pueden podía poder debe deben
    y e o u pero sino porque pues si aunque mientras
    a ante bajo con contra desde en entre hacia hasta para por según sin sobre tras durante
    no ni nada nadie nunca también tampoco ya muy más menos tan tanto
    todo toda todos todas otro otra otros otras algo alguien algún alguna algunos algunas
    cada mismo misma aquí allí así entonces";

const PORTUGUESE: &str = "
    o a os as um uma uns umas do da dos das no na nos nas ao aos à às pelo pela pelos pelas
    de em num numa dum duma
    eu me mim tu te ti ele ela nós vós eles elas você vocês se si lhe lhes
    meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas
    este esta isto estes estas esse essa isso esses essas aquele aquela aquilo deste desta disso
    que quê quem qual quais quando onde como quanto quanta quantos quantas porque porquê
    sou és é somos são era eram foi foram ser sido sendo será serão seria
    estou está estão estamos estava estavam esteve estar estado
    tenho tem têm temos tinha tinham ter tido há havia houve haver
    pode podem podia poder deve devem vai vão ir
    e ou mas nem pois se embora enquanto
    com contra desde entre até para por perante sem sob sobre após durante
    não nada ninguém nunca também já muito mais menos tão só ainda
    todo toda todos todas outro outra outros outras algo alguém algum alguma alguns algumas
    cada mesmo mesma aqui ali lá assim então";

const ITALIAN: &str = "
    il lo la i gli le un uno una l d
    di del dello della dei degli delle a al allo alla ai agli alle
    da dal dallo dalla dai dagli dalle in nel nello nella nei negli nelle
    su sul sullo sulla sui sugli sulle con col per tra fra
    io me mi tu te ti lui lei egli ella esso essa noi ci vi voi loro essi si sé ne
    mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra
    questo questa questi queste quello quella quelli quelle quel ciò
    che chi cui quale quali quando dove come perché quanto quanta quanti quante cosa
    sono sei è siamo siete era erano ero fu furono essere stato stata stati state sarà sarebbe
    ho hai ha abbiamo avete hanno aveva avevano avere avuto
    può possono poteva potere deve devono fare fa fatto
    e ed o od ma però se anche né oppure mentre poiché
    non nulla niente mai più meno molto già ancora così solo
    tutto tutta tutti tutte altro altra altri altre qualche alcuni alcune ogni stesso stessa
    qui qua lì là poi prima dopo senza contro verso sotto sopra durante fino";

const DUTCH: &str = "
    de het een der des
    ik mij me mijn jij je jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen zich
    dit dat deze die
    wie wat welke welk waar wanneer waarom hoe hoeveel waarmee waarvoor
    ben bent is was waren geweest wees
    heb hebt heeft hebben had hadden gehad
    word wordt worden werd werden geworden
    kan kunt kunnen kon konden moet moeten moest mag mogen zal zult zullen zou zouden wil willen
    doen doet deed ga gaat gaan
    en of maar want dus als dan omdat terwijl hoewel toen dat
    in op aan uit bij met naar van voor tot te om onder over tegen tussen door zonder na sinds
    tijdens vanaf
    niet niets geen nooit ook nog al zeer heel meer veel zo wel er hier daar toch maar
    alle alles elk elke ieder iedere andere iets iemand niemand zelf";

const SWEDISH: &str = "
    en ett den det de dem
    jag mig du dig han honom hon henne vi oss ni er sig man
    min mitt mina din ditt dina sin sitt sina hans hennes vår vårt våra deras ert era
    denna detta dessa
    vem vad vilken vilket vilka när var vart varför hur vems
    är var varit vara blir blev bli blivit har hade haft ha
    kan kunde ska skall skulle vill ville måste får fick göra gör gjorde
    och eller men utan för att om som än därför medan eftersom innan
    i på av till från med vid hos under över mellan mot genom efter före ur åt bland sedan
    inte ej inget inga ingen aldrig också redan mycket mer mest så då där här nu bara ju
    alla allt varje någon något några annan andra samma själv";

const DANISH: &str = "
    en et den det de dem
    jeg mig du dig han ham hun hende vi os i jer sig man
    min mit mine din dit dine sin sit sine hans hendes vores deres jeres
    denne dette disse
    hvem hvad hvilken hvilket hvilke hvornår hvor hvorfor hvordan hvis
    er var været være bliver blev blive blevet har havde haft have
    kan kunne skal skulle vil ville må måtte får fik gør gjorde gøre
    og eller men for at om som end fordi mens når da
    på af til fra med ved hos under over mellem mod gennem efter før ud ind op ned
    ikke ingen intet aldrig også allerede meget mere mest så der her nu kun jo
    alle alt hver nogen noget nogle anden andet andre samme selv";

const NORWEGIAN: &str = "
    en ei et den det de dem
    jeg meg du deg han ham hun henne vi oss dere seg man
    min mitt mine di din ditt dine sin sitt sine hans hennes vår vårt våre deres
    denne dette disse
    hvem hva hvilken hvilket hvilke når hvor hvorfor hvordan hvis
    er var vært være blir ble bli blitt har hadde hatt ha
    kan kunne skal skulle vil ville må måtte får fikk gjør gjorde gjøre
    og eller men for at om som enn fordi mens da å
    i på av til fra med ved hos under over mellom mot gjennom etter før ut inn opp ned
    ikke ingen intet aldri også allerede mye mer mest så der her nå bare jo
    alle alt hver noen noe annen annet andre samme selv";

const FINNISH: &str = "
    minä minua minun minulle minut sinä sinua sinun sinulle hän häntä hänen hänelle
    me meitä meidän meille te teitä teidän he heitä heidän heille
    se sen sitä siinä siitä sille ne niitä niiden tämä tämän tätä tässä nämä tuo tuon
    joka jonka jota jossa josta jotka joita itse
    kuka kenen ketä mikä minkä mitä missä mistä mihin milloin koska miksi miten kuinka millainen
    olen olet on olemme olette ovat olin oli olivat ollut ollaan olla olisi
    en et ei emme ette eivät älä
    voi voin voivat voida pitää täytyy
    ja tai vai mutta sekä eli että jos kun kuin koska vaikka jotta
    kanssa ilman ennen jälkeen varten mukaan ali yli alla päällä välillä
    ei myös vielä jo hyvin niin nyt sitten siellä täällä vain aina koskaan
    kaikki kaiken joku jokin jotain muu muut sama";

const POLISH: &str = "
    ja mnie mi mną ty ciebie cię ci tobą on jego go jemu mu nim ona jej ją nią ono
    my nas nam nami wy was wam oni one ich im nimi się sobie siebie
    mój moja moje mojego twój twoja twoje swój swoja swoje nasz nasza nasze wasz wasza
    ten ta to tego tej temu tym tych te ci tamten tamta
    kto kogo komu kim co czego czemu czym który która które których którego której
    kiedy gdzie skąd dokąd dlaczego jak jaki jaka jakie ile czy
    jestem jesteś jest jesteśmy są był była było byli były być będzie będą będę
    mam ma mają miał miała mieć może mogą można musi trzeba
    i a oraz lub albo ale lecz więc że żeby aby bo ponieważ gdy jeśli choć
    w we z ze na do od po przy przez pod nad przed za między dla o u bez podczas
    nie nic nigdy też także już jeszcze bardzo tak tam tu tutaj teraz tylko
    wszystko wszystkie każdy każda inny inna inne sam sama";

const TURKISH: &str = "
    ben beni bana benim sen seni sana senin o onu ona onun biz bizi bize bizim siz sizi size sizin
    onlar onları onlara onların kendi kendisi
    bu bunu buna bunun bunlar şu şunu şuna
    kim kimi kime kimin ne neyi neye neden niçin niye nasıl nerede nereye nereden hangi kaç ne zaman
    mı mi mu mü mıdır midir
    var yok değil idi ise imiş olan olarak oldu olur olmak olacak olduğu eden etti etmek
    ve veya ya da de ki ama fakat ancak çünkü eğer hem
    ile için gibi kadar göre sonra önce üzere karşı doğru beri dolayı
    bir her bazı hiç tüm bütün hep daha çok az en pek şey böyle şöyle öyle
    diye artık hala henüz sadece yine zaten";

const HUNGARIAN: &str = "
    a az egy
    én engem nekem te téged neked ő őt neki mi minket nekünk ti titeket nektek ők őket nekik
    maga magát ön önök
    ez ezt ennek ebben ezek azt annak abban azok
    ki kit kinek mit minek miben melyik mikor hol hova honnan miért hogyan hány mennyi milyen
    vagyok vagy van vagyunk vannak volt voltak voltam lesz lesznek lenni legyen lett
    kell lehet tud akar
    és meg s de hanem mert hogy ha mint bár mivel amikor ahol aki amely ami
    alatt fölött között mellett előtt után nélkül szerint miatt felé által óta
    nem ne nincs se sem is már még csak nagyon is így úgy itt ott most akkor
    minden mindig semmi soha valaki valami más saját";

const ROMANIAN: &str = "
    un o unei unui niște al ai ale lui
    eu mă mie îmi mi tu te ție îți ți el îl ea îi noi ne nouă voi vă vouă ei ele le lor se își sine
    meu mea mei mele tău ta tăi tale său sa săi sale nostru noastră noștri voastră
    acest această acestea acești acesta acel acea acela aceea
    cine ce care când unde cum cât câtă câți câte cui
    sunt ești este e suntem sunteți era erau eram fost fi fie va vor voi
    am ai are avem aveți au avea aveam avut
    poate pot putea trebuie
    și sau dar ci deci că să dacă deși fiindcă deoarece
    de din în la pe cu pentru prin despre spre fără sub peste între după înainte până către
    nu nimic nimeni niciodată nici mai foarte tot toate toți toată și doar deja încă așa
    aici acolo atunci acum alt altă alți alte fiecare";

const INDONESIAN: &str = "
    saya aku kamu anda engkau dia ia beliau kita kami mereka kalian nya
    ini itu tersebut begini begitu
    siapa apa apakah mana dimana kemana darimana kapan mengapa kenapa bagaimana berapa
    adalah ialah merupakan ada tidak bukan belum jangan sudah telah sedang akan masih pernah
    bisa dapat boleh harus mau ingin
    dan atau tetapi tapi namun karena sebab jika kalau bila ketika saat sehingga agar supaya
    di ke dari pada dalam dengan untuk oleh bagi tentang terhadap antara sampai hingga sejak tanpa
    yang juga lagi saja hanya sangat lebih paling sekali seperti
    semua setiap para beberapa banyak lain sendiri sebuah seorang
    si sang lah kah pun sini situ sana lalu kemudian";

const RUSSIAN: &str = "
    я меня мне мной ты тебя тебе тобой он его ему им нём она её ей ею ней оно
    мы нас нам нами вы вас вам вами они их ими них ним себя себе собой
    мой моя моё мои моего моей твой твоя твоё твои свой своя своё свои своего своей своих
    наш наша наше наши ваш ваша ваше ваши
    этот эта это эти этого этой этому этих этим тот та то те того той тому тех тем том
    кто кого кому кем что чего чему чем который которая которое которые которого которой которых
    какой какая какое какие каким где куда откуда когда почему зачем как сколько чей ли
    быть был была было были есть буду будет будут бы
    мочь может могут можно нужно надо
    и а но или либо да же ведь если хотя чтобы потому поэтому пока
    в во на с со к ко у о об от из за по до для при под над без через между про перед после
    не ни нет ничего никогда также тоже уже ещё очень так там тут здесь теперь сейчас только
    всё все весь вся всех всего каждый другой сам сама сами самый";

const UKRAINIAN: &str = "
    я мене мені мною ти тебе тобі він його йому ним вона її їй нею воно
    ми нас нам нами ви вас вам вами вони їх їм ними себе собі
    мій моя моє мої твій твоя твоє твої свій своя своє свої наш наша наше наші ваш ваша ваше ваші
    цей ця це ці цього цієї цьому цих той та те ті того тієї тому тих
    хто кого кому ким що чого чому чим який яка яке які якого якої яких
    де куди звідки коли навіщо як скільки чий чи
    бути був була було були є буду буде будуть би
    може можуть можна треба потрібно
    і й а але або та же якщо хоча щоб бо поки
    в у на з із зі до від за по для при під над без через між про перед після
    не ні немає нічого ніколи також теж вже ще дуже так там тут тепер зараз тільки лише
    все всі весь вся всіх кожен інший сам сама самі";

const ARABIC: &str = "
    أنا نحن أنت أنتم أنتما هو هي هم هن هما
    هذا هذه هؤلاء ذلك تلك أولئك هنا هناك
    الذي التي الذين اللذان اللاتي
    من ما ماذا متى أين كيف لماذا لم كم أي أية هل مَن بماذا
    كان كانت كانوا يكون تكون ليس ليست سيكون قد سوف
    في على إلى عن مع عند بعد قبل بين تحت فوق حتى منذ خلال حول دون ضد نحو
    فيه فيها عليه عليها إليه إليها منه منها به بها له لها لهم لنا لي لك معه معها عنه عنها
    و أو ثم لكن بل إذا إن أن أنه أنها لأن كما لو لولا حيث بينما عندما
    لا لن لما غير كل بعض جميع أيضا فقط جدا الآن بما مما كلا نفس
    والتي والذي وهو وهي وكان وكانت وفي ومن";

const GREEK: &str = "
    ο η το οι τα του της των τον την τους τις στο στη στην στον στους στις στα ένας μια μία ένα
    εγώ εμένα με μου εσύ εσένα σε σου αυτός αυτή αυτό αυτοί αυτές αυτά εμείς εμάς μας εσείς εσάς σας
    αυτόν αυτούς αυτών
    εκείνος εκείνη εκείνο
    ποιος ποια ποιο ποιοι ποιον τι πότε πού που πώς γιατί πόσο πόσα πόσες όποιος οποίος οποία οποίο
    είμαι είσαι είναι είμαστε είστε ήταν ήμουν έχω έχεις έχει έχουμε έχουν είχα είχε είχαν
    θα να ας μπορεί μπορώ πρέπει
    και κι ή αλλά όμως ούτε είτε αν όταν ότι επειδή ώστε ενώ
    από για σε με προς κατά μετά πριν χωρίς μέχρι ως παρά υπό μεταξύ
    δεν μην όχι ναι τίποτα ποτέ επίσης ήδη ακόμα ακόμη πολύ πιο έτσι εδώ εκεί τώρα τότε μόνο
    όλα όλοι όλες κάθε κάποιος κάτι άλλος άλλη άλλο";

const SPACELESS: &str = "
    的 了 吗 呢 吧 啊 呀 嘛 么 着 过 地 得 之 其 是 在 和 与 或 及 而 但 就 都 也 还 又 很 不 没
    我 你 您 他 她 它 们 这 那 哪 谁 把 被 让 给 对 从 到 向 为 因 所 以 于 个 有 会 要 该
    我们 你们 他们 她们 它们 咱们 自己 这个 那个 哪个 这些 那些 哪些 这里 那里 哪里 哪儿 这样 那样
    什么 怎么 怎样 为何 为什 如何 多少 多久 几个 什麼 怎麼 為什 哪裡 這個 那個 誰 嗎 這 們 個 會 對
    是否 是不 不是 可以 应该 需要 已经 因为 所以 但是 如果 虽然 而且 或者 以及 关于 没有 还是 就是 的是
    は が を に へ と で も の や か ね よ わ な ら ば て た だ し さ
    です ます でし まし した して ない ませ せん から まで より ので のに けど でも には とは では
    この その あの どの これ それ あれ どれ ここ そこ どこ こと もの いる ある する なる った って
    いつ だれ 誰が 何が 何を 何 なに なぜ どう いく どん どち られ れる せる たい
    是非 何時 何処
    은 는 이 가 을 를 의 에 와 과 도 로 만 께 야 요 고 지 나 서 면 다 까
    에서 으로 에게 부터 까지 하고 이나 보다 처럼 마다 조차 라고 이라 에는 에도 이다 입니 니다 습니
    하는 하다 했다 있는 있다 없는 없다 되는 된다 합니 해요 세요 나요 는지 을까 인가 던가 어요 아요
    누가 누구 무엇 무슨 뭐 언제 어디 어떻 떻게 어떤 얼마 왜 몇 그리 그런 그러 이런 저는 나는 우리";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_word_knows_its_languages() {
        assert!(common("the").meets(StopwordLists::of(StopwordList::English)));
        assert!(common("fur").meets(StopwordLists::of(StopwordList::German)));
        assert!(common("еще").meets(StopwordLists::of(StopwordList::Russian)));
        assert!(common("怎么").meets(StopwordLists::of(StopwordList::Spaceless)));
        assert!(common("database").is_empty());
        assert_eq!(common("de").places().count(), common("de").len() as usize);
    }

    #[test]
    fn the_lists_stand_in_the_order_of_the_languages() {
        for (place, (list, _, words)) in LISTS.iter().enumerate() {
            assert_eq!(*list as usize, place);
            assert!(words.split_ascii_whitespace().count() >= 60, "{list:?}");
        }
    }
}
