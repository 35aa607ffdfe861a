"""Texts made by rule: everyday notes and questions, of which manuals have few.

No text of a benchmark and none of anybody's notes is in here. The words are ordinary ones, and
the sentences make sense as often as not: the student only learns where the teacher puts them.
"""

from __future__ import annotations

import random
import re

NAMES = """Anna Ben Carla David Elena Farid Grace Hugo Ines Jonas Karin Leo Marta Nina Omar Paula
Quentin Rosa Sam Tara Uwe Vera Will Xenia Yusuf Zoe Priya Kenji Mei Olga Pedro Amara Lukas""".split()
PEOPLE = """my wife|my husband|my partner|our daughter|our son|my mother|my father|grandma|grandpa|my
sister|my brother|the neighbour|the landlord|my boss|my manager|the new hire|a colleague|the dentist|the
doctor|our accountant|the plumber|the teacher|my best friend|my cousin|my aunt|the babysitter|the cat|the
dog|the whole team|the client|a supplier|the intern|the coach|the vet|the nurse|my uncle|the kids""".replace(
    "\n", " ").split("|")
THINGS = """spare key|router|washing machine|passport|insurance card|bicycle|guitar|coffee machine|tent|lawn
mower|laptop|phone charger|medicine|blood pressure monitor|tax return|birthday cake|sourdough starter|tomato
plants|garden hose|heating|boiler|front door|letter box|car|winter tyres|bus pass|train ticket|hotel
booking|flight|suitcase|backpack|glasses|contact lenses|hearing aid|printer|backup drive|server|database|
release|login page|pull request|test suite|deployment|password manager|certificate|invoice|contract|budget|
meeting room|whiteboard|newsletter|mailing list|photo album|piano lesson|swimming class|school trip|
vaccination|allergy pills|peanut butter|olive oil|gluten free bread|curry|birthday present|wedding|
anniversary|book club|podcast|chess set|board game|running shoes|yoga mat|gym membership|library card|
electricity meter|smoke detector|fuse box|water filter|dishwasher|fridge|oven|sofa|mattress|curtains|rug|
paint|ladder|drill|toolbox|savings account|credit card|mortgage|pension|parking permit|driving licence""".replace(
    "\n", " ").split("|")
THINGS = [thing.strip() for thing in THINGS]
PLACES = """in the kitchen drawer|under the stairs|in the garage|at the office|in the cellar|on the top
shelf|behind the door|at the airport|in Lisbon|in Berlin|near the station|in the blue folder|on the shared
drive|in the cloud|at school|at the clinic|in the attic|next to the window|at the bakery|by the lake|in the
glove box|on the second floor|in the meeting room|at my parents' place|in the garden shed""".replace("\n", " ").split("|")
TIMES = """on Monday|every Thursday|at half past seven|before ten in the morning|after lunch|twice a week|once
a month|in early March|last summer|since 2019|by the end of the quarter|on the first of the month|at
midnight|during the holidays|every other weekend|tomorrow|three weeks ago|until further notice""".replace("\n", " ").split("|")
FEELINGS = """likes|hates|prefers|cannot stand|is allergic to|is afraid of|is proud of|forgot|lost|found|
bought|sold|repaired|returned|cancelled|ordered|borrowed|lent out|cleaned|replaced|needs|wants|
recommends|avoids|collects|broke|painted|photographed|is learning about|complained about""".replace("\n", " ").split("|")
FEELINGS = [verb.strip() for verb in FEELINGS]
WORK = """we moved from {a} to {b} because it was too slow|the {a} runs on the old machine and the {b} on the
new one|decided to keep the {a} and drop the {b}|the {a} failed {t}; the cause was the {b}|restart the {a}
before touching the {b}|the {a} costs less than the {b} but takes longer|never change the {a} {t}|ask {n} before
the {a} is changed|the limit for the {a} is {k}|the {a} was renamed to {b}|rolled back the {a} after the {b} broke|
{n} owns the {a}, {m} the {b}|the {a} has to be renewed {t}|the review of the {a} is {t}""".replace("\n", " ").split("|")
NOTES = """{p} {v} the {a}|{n} {v} the {a} {t}|The {a} is {w}|The {a} is {w}, the {b} {w}|{p} is coming {t}|
Remind {p} about the {a} {t}|{n} works as a {j}|{p} used to be a {j}|The code for the {a} is {k}|Pay {k} for the
{a} {t}|{n} lives {w}|We meet {n} {t} {w}|{p} takes the {a} {t}|The appointment for the {a} is {t}|{n} said
the {a} should stay {w}|No {a} for {p}, it makes {p} ill|Keep the {a} away
from {p}|The {a} from {n} was a gift for {p}|{n} and {m} share the {a}|If the {a} stops, call {n}|We agreed that {p}
gets the {a} {t}|{n} is vegetarian and {v} the {a}|My favourite is the {a}, not the {b}|{p} sleeps badly after the
{a}|The {a} arrived damaged and {n} sent it back""".replace("\n", " ").split("|")
QUESTIONS = """Where is the {a}?|Where do we keep the {a}?|Who looks after the {a}?|Who should I ask about the
{a}?|When is the {a} due?|What is {n}'s job?|How do I reach {n}?|What did we decide
about the {a}?|Why did we change the {a}?|Which {a} did we choose?|How much does the {a} cost?|What does {p} like?|What annoys {p}?|When does {p} come home?|How often do we need the {a}?|What is the code
for the {a}?|What happened to the {a}?|Who broke the {a}?|What is {n} allergic to?|Is it all right to give {p} the
{a}?|What are the rules for the {a}?|Which day is best for the {a}?|How long have we had the {a}?|Who gave us the
{a}?|What was wrong with the {a}?|How can we save money on the {a}?|What does {n} think of the {a}?|Which of them
{v} the {a}?|What do I have to bring for the {a}?|What is planned {t}?|
Where does {n} live?|What are {p}'s plans {t}?|Who is responsible if the {a} fails?|What replaced the {a}?|Do we still use the {a}?|Where was {n} {t}?|
How is {p} feeling?|What did {n} promise?|Can {p} use the {a}?""".replace("\n", " ").split("|")
JOBS = """nurse|carpenter|teacher|pilot|baker|lawyer|software engineer|gardener|translator|chef|photographer|
firefighter|pharmacist|architect|electrician|musician|farmer|librarian|bus driver|surgeon|journalist|
welder|tailor|accountant|police officer|sailor|optician|veterinarian|painter|cleaner""".replace("\n", " ").split("|")
JOBS = [job.strip() for job in JOBS]
ASKED = ["Why is it that", "Do you remember when", "Who said that", "Is it true that", "What does it mean that",
         "How do we know that", "What happens if", "Where was it written that", "Since when", "What should I do when"]
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")


def filled(template: str, rng: random.Random, things: list[str]) -> str:
    """Fills a template with words."""
    choices = {
        "a": rng.choice(things), "b": rng.choice(things), "n": rng.choice(NAMES), "m": rng.choice(NAMES),
        "p": rng.choice(PEOPLE).strip(), "v": rng.choice(FEELINGS), "w": rng.choice(PLACES).strip(),
        "t": rng.choice(TIMES).strip(), "k": str(rng.choice([3, 12, 48, 250, 1984, 7412])), "j": rng.choice(JOBS),
    }
    return " ".join(re.sub(r"\{(\w)\}", lambda found: choices[found.group(1)], template).split())


def noun_like(texts: list[str], rng: random.Random, count: int) -> list[str]:
    """Takes what follows an article in other texts: mostly things that have a name."""
    found = set()
    pattern = re.compile(r"\b(?:the|a|an|our|my|your|his|her) ((?:[a-z]{3,} ){0,1}[a-z]{4,})\b")
    for text in texts:
        found.update(pattern.findall(text))
    found = sorted(found)
    rng.shuffle(found)
    return found[:count]


def made(texts: list[str], count: int, seed: int) -> list[str]:
    """Makes notes, questions and questions about what other texts say."""
    rng = random.Random(seed)
    sample = rng.sample(texts, min(len(texts), 150_000))
    others = noun_like(sample, rng, 40_000)
    result = []
    while len(result) < count:
        things = THINGS if rng.random() < 0.5 or not others else others
        kind = rng.random()
        if kind < 0.35:
            result.append(filled(rng.choice(NOTES), rng, things))
        elif kind < 0.45:
            result.append(filled(rng.choice(WORK), rng, things))
        elif kind < 0.75:
            result.append(filled(rng.choice(QUESTIONS), rng, things))
        elif kind < 0.85:
            result.append(". ".join(filled(rng.choice(NOTES), rng, things) for _ in range(rng.randint(2, 5))))
        else:
            words = WORD.findall(rng.choice(sample))[:40]
            if len(words) > 4:
                start = rng.randrange(max(1, len(words) - 12))
                span = " ".join(words[start:start + rng.randint(4, 12)]).lower()
                result.append(f"{rng.choice(ASKED)} {span}?")
    return sorted(set(result))
