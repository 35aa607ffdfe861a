//! A vocabulary in which a few words are common and most are rare.

/// The words, most common first.
const VOCABULARY: &str = "\
    the to and of a in for on it with that was is at as not be but we from this by had have \
    release owner piano often least storm family paper switch cookie build window planet morning \
    during third project scope guitar jacket three message beach cheese candle coffee protocol \
    upload yesterday network parser summary monitor Berlin mirror quick table print wrote \
    profile twelve Hamburg back report sync timer apple hard summer memory right less label \
    document true could vector museum fixed before endpoint method container gateway test task \
    need used how pixel stack Mateo feature since kitchen day paid part really today umbrella \
    there passport update reason under so station reply letter look error year sample config \
    segment deploy thing policy editor router insert record module without tenant header my tell \
    came budget process patch whole nothing first once prompt ocean because bridge cupboard hash \
    violin butter journal digest request import sort object region folder search street invoice \
    month entry people migration socket Jonas push every embed filter flower secret target white \
    Rosa column short symbol docker until can Lagos script service graph branch query meant hand \
    later way pocket session forest token large stop mountain balcony got winter store ferry \
    function closed carpet while thread stand walk sound airport Sofia between package see \
    camera Priya event console Lin Tariq rent frame insurance pool hour metric Warsaw webhook \
    traffic boat bread Greta restaurant customer vacation rollback nine twenty snapshot any \
    write ledger queue tried Anna review signal draft syntax train partition mean knew Kyoto \
    twice after vendor issue terminal quiet he delta simple noted ship local engine supper chair \
    medicine wedding machine read seven ready manifest license sugar shard doctor salary domain \
    cloud corner key Omar limit name remote up host their school storage offset commit early \
    reader market route ladder packet sensor slow split those default round kernel worker yet \
    bicycle change minute water dentist lot harbour check plugin rain lunch proxy tunnel hotel \
    payload world space integer retry moment client video image small never schedule loop wallet \
    maybe status debug dress cron backup stream runtime prove island talk replica string just \
    work Porto about format point share too wrapper source potato opened teacher deadline let \
    weather pillow calendar quota trace run field does pipeline night system brother list found \
    Lisbon question know may layer neighbour half ticket river database heap birthday cluster \
    still dinner theatre start or Fatou would instead dashboard sign Tomasz visa if export what \
    server through Quito file went version input place remind shell second seem contract nice \
    driver little schema lemon always prefix device mount cache sunday percent crash trigger \
    tomorrow agent now new thank log archive village refund onion library bakery latency kettle \
    Weber screen loader said shoe browser spoon asked quite order timeout garden index other \
    uncle flight left open should merge also must code over think end cursor again fever friend \
    yes number volume cinema render sent sister Emil install warning say set pause word you disk";

/// Flattens the law a little, so that the first word does not drown the rest.
const SHIFT: u64 = 2;
const SCALE: u64 = 1 << 40;

/// Words, each found by a number as often as Zipf's law says.
#[derive(Clone)]
pub(super) struct Words {
    words: Vec<&'static str>,
    /// The sum of the weights up to and including each word.
    sums: Vec<u64>,
}

impl Words {
    pub(super) fn new() -> Self {
        let words: Vec<&str> = VOCABULARY.split_ascii_whitespace().collect();
        let mut total = 0;
        let sums = (0..words.len() as u64)
            .map(|rank| {
                // Whole numbers: a logarithm may differ from one machine to the next.
                total += SCALE / (rank + SHIFT);
                total
            })
            .collect();
        Self { words, sums }
    }

    pub(super) fn at(&self, number: u64) -> &'static str {
        let total = self.sums.last().copied().unwrap_or(1);
        let index = self.sums.partition_point(|sum| *sum <= number % total);
        self.words[index]
    }
}
