//! Numbers with marks inside: versions, times, dates, thousands.

/// Returns the compared form of a whole number with marks inside: groups of thousands become one
/// number, a day becomes `2026-04-01`, everything else stays unchanged.
///
/// `parts` are only digits; `joints` are what separates them.
pub(super) fn whole(parts: &[&str], joints: &[&str]) -> String {
    let all = |joint: &str| joints.iter().all(|other| *other == joint);
    if all(",") && is_grouped(parts) {
        return parts.concat();
    }
    if let ([first, second, third], [joint, other]) = (parts, joints) {
        let short = |part: &str| part.len() <= 2;
        if first.len() == 4 && short(second) && short(third) && joint == other {
            return format!("{first}-{second:0>2}-{third:0>2}");
        }
        if short(first) && short(second) && third.len() == 4 && all(".") {
            return format!("{third}-{second:0>2}-{first:0>2}");
        }
    }
    if let ([first, second], [","]) = (parts, joints) {
        return format!("{first}.{second}");
    }
    let mut whole = String::new();
    for (place, part) in parts.iter().enumerate() {
        if let Some(joint) = place.checked_sub(1).and_then(|before| joints.get(before)) {
            whole.push_str(joint);
        }
        whole.push_str(part);
    }
    whole
}

fn is_grouped(parts: &[&str]) -> bool {
    let Some((first, groups)) = parts.split_first() else { return false };
    first.len() <= 3 && !first.starts_with('0') && groups.iter().all(|group| group.len() == 3)
}

/// Returns a number without its leading zero: `08` is a day, an hour or a month, `007` is a name.
pub(super) fn small(digits: &str) -> &str {
    match digits.strip_prefix('0') {
        Some(digit) if digit.len() == 1 => digit,
        _ => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_marks_are_whole() {
        assert_eq!(whole(&["1", "000"], &[","]), "1000");
        assert_eq!(whole(&["12", "345", "678"], &[",", ","]), "12345678");
        assert_eq!(whole(&["3", "14"], &["."]), "3.14");
        assert_eq!(whole(&["3", "14"], &[","]), "3.14");
        assert_eq!(whole(&["2026", "4", "1"], &["/", "/"]), "2026-04-01");
        assert_eq!(whole(&["1", "4", "2026"], &[".", "."]), "2026-04-01");
        assert_eq!(whole(&["192", "168", "1", "1"], &[".", ".", "."]), "192.168.1.1");
    }

    #[test]
    fn one_leading_zero_goes() {
        assert_eq!(small("08"), "8");
        assert_eq!(small("00"), "0");
        assert_eq!(small("0"), "0");
        assert_eq!(small("007"), "007");
        assert_eq!(small("10"), "10");
    }
}
