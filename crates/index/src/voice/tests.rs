use super::*;

fn voices(text: &str) -> Vec<Voice> {
    let document = Document { text: text.to_owned(), ..Document::default() };
    let conversation = Conversation::of(&document);
    text.lines()
        .filter(|line| speaker(line).is_some())
        .map(|line| conversation.voice(line))
        .collect()
}

#[test]
fn a_session_note_is_known_by_its_first_heading_and_a_chat_by_its_speakers() {
    let of =
        |text: &str| Conversation::of(&Document { text: text.to_owned(), ..Document::default() });
    assert_eq!(of("# Session: 2026-01-14 08:12:00 UTC\n\n- **Source**: x\n"), Conversation::Whole);
    assert_eq!(of("---\na: b\n---\n\n# Session: 2026-01-14\n"), Conversation::Whole);
    assert_eq!(of("# Log\n\n- **User**: hello\n- **Assistant**: hi\n"), Conversation::Labelled);
    assert_eq!(of("Benutzer: hallo\nAssistent: ja\n"), Conversation::Labelled);
    for text in [
        "# Sessions\n\nUser: prefers tea\n",
        "- User: Lin\n- Timezone: Berlin\n",
        "# Notes on the session\n\n- **Caroline**: hey\n- **Melanie**: hello\n",
        "",
    ] {
        assert_eq!(of(text), Conversation::None, "{text}");
    }
    let row = Document {
        text: "where is the key".to_owned(),
        namespace: Some("conversation".to_owned()),
        ..Document::default()
    };
    assert_eq!(Conversation::of(&row), Conversation::Whole);
}

#[test]
fn a_note_stays_a_statement_whatever_it_says() {
    for text in ["What is Lin allergic to?", "I don't know", "User: who knows?"] {
        assert_eq!(Conversation::None.voice(text), Voice::Statement, "{text}");
    }
    assert_eq!(Conversation::Labelled.voice("A note between two turns?"), Voice::Statement);
}

#[test]
fn questions_and_replies_without_an_answer_are_told_from_what_is_said() {
    for text in [
        "user: \"What is Lin allergic to?\"\nassistant: \"I could not find it.\"",
        "user: what does the plumber charge again\nassistant: No note about his fee, sorry. Ask him.",
        "user: the code for the alarm?? it's beeping\nassistant: I don't have it. Try calling Lorcan.",
        "user: Who?\nassistant: I searched the notes and found no name.",
        "user: Which solicitor?\nassistant: Still nothing on file about a solicitor. Shall I ask?",
        "user: How much?\nassistant: No figure at all, sorry.",
        "user: And now?\nassistant: Sorry, still unknown.",
        "user: Wo ist der Schlüssel?\nassistant: Das weiß ich leider nicht.",
        "user: Wann kommt Ana\nassistant: Dazu finde ich keine Notiz.",
        "user: ¿Dónde están las llaves?\nassistant: No lo sé, no encontré ninguna nota.",
        "user: Où sont les clés ?\nassistant: Je n'ai rien trouvé à ce sujet.",
        "user: Onde está a chave?\nassistant: Não encontrei nenhuma informação.",
        "user: Dov'è la chiave?\nassistant: Non lo so.",
        "user: Waar is de sleutel\nassistant: Ik weet het niet.",
        "user: Где ключ?\nassistant: Я не нашёл записи об этом.",
        "user: أين المفتاح؟\nassistant: لا أعرف.",
        "user: 钥匙在哪里？\nassistant: 我不知道。",
        "user: 鍵はどこですか？\nassistant: 記録が見つかりませんでした。",
    ] {
        assert_eq!(voices(text), [Voice::Asked, Voice::Empty], "{text}");
    }
}

#[test]
fn what_tells_something_is_said() {
    for text in [
        "user: Lin is allergic to hazelnuts.\nassistant: Noted.",
        "user: When I was in Rome, I lost the ring.\nassistant: I will remember the ring from Rome.",
        "user: The gate code is 4711. Can you note that?\nassistant: The gate code is 4711, noted.",
        "user: you don't have to bring anything\nassistant: You don't have to pay, the fee is covered.",
        "user: is the shop open on Monday, I need flour\nassistant: No, it opens on Tuesday.",
        "user: Ich mag keinen Kaffee.\nassistant: Gut, Tee statt Kaffee.",
        "user: 我对榛子过敏。\nassistant: 好的，记住了。",
    ] {
        assert_eq!(voices(text), [Voice::Said; 2], "{text}");
    }
}
