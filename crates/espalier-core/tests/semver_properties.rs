//! Properties of versions and ranges that hold for every text.

use espalier_core::semver::{Range, RangeOptions, Version, min_version, obvious_major};
use proptest::prelude::*;

/// This test takes minutes if any step is quadratic in the length of its input.
#[test]
fn long_ranges_are_read_in_linear_time() {
    const LENGTH: usize = 100_000;
    let distinct: Vec<_> = (0..LENGTH / 8).map(|patch| format!(">1.0.{patch}")).collect();
    let repeated =
        ["v", "v ", "= ", "> ", "~ ", "+a ", "+", "1", "1 ", "1.2.3", "||", "| ", "1 - ", "\u{a0}", "*", "- "];
    for text in repeated.iter().map(|part| part.repeat(LENGTH / part.len())).chain([distinct.join(" ")]) {
        for range in [Range::parse(&text), Range::parse_loose(&text)].into_iter().flatten() {
            range.satisfied_by(&Version::parse("1.2.3").expect("it is valid"));
        }
        assert!(Version::parse_loose(&text).is_none());
    }
}

fn configuration() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) }
}

/// Text that looks enough like a range to get past the first check.
fn range_like() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[0-9]{1,2}",
        4 => r"[.xX*<>=~^v| +-]",
        2 => r"[0-9]\.[0-9]\.[0-9](-[a-z0-9-]{1,3}(\.[0-9]{1,18})?)?",
        1 => "[0-9]{15,30}",
        1 => Just(" - ".to_owned()),
        1 => Just(" || ".to_owned()),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn numeric_or_word() -> impl Strategy<Value = String> {
    prop_oneof![
        (9_007_199_254_740_990_u64..9_007_199_254_740_996).prop_map(|number| number.to_string()),
        (0_u8..3).prop_map(|number| number.to_string()),
        "[ab-]{1,2}",
    ]
}

fn close_versions() -> impl Strategy<Value = Version> {
    prop::collection::vec(numeric_or_word(), 0..3).prop_map(|identifiers| {
        let hyphen = if identifiers.is_empty() { "" } else { "-" };
        Version::parse(&format!("1.0.0{hyphen}{}", identifiers.join("."))).expect("it is valid")
    })
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn no_text_makes_reading_panic(
        left in prop_oneof![range_like(), any::<String>()],
        right in range_like(),
        version in prop_oneof![range_like(), "[v= ]?[0-9]{1,3}\\.[0-9]\\.[0-9][a-z.0-9+-]{0,6}"],
        loose: bool,
        include_prerelease: bool,
    ) {
        let options = RangeOptions { loose, include_prerelease };
        let read = |text: &str| if loose { Version::parse_loose(text) } else { Version::parse(text) };
        let versions = [&left, &right, &version].map(|text| read(text));
        if let [Some(left), Some(right)] = [&left, &right].map(|text| Range::parse_with(text, options)) {
            left.intersects(&right);
            left.is_subset_of(&right);
            min_version(&left);
            for version in versions.iter().flatten() {
                left.satisfied_by(version);
            }
        }
    }

    #[test]
    fn a_range_admits_the_prereleases_that_satisfy_it(
        text in prop_oneof![range_like(), r"[<>=~^]{0,2}[0-1]\.[0-1]\.[0-1](-[a-b0])?( - 1\.1\.1-b| <1\.1\.1-b)?"],
        numbers in prop::array::uniform3(0_u64..2),
        prerelease in "[ab0](\\.[a0-])?",
        include_prerelease: bool,
    ) {
        let [major, minor, patch] = numbers;
        let version = Version::parse(&format!("{major}.{minor}.{patch}-{prerelease}")).expect("it is valid");
        let options = RangeOptions { loose: true, include_prerelease };
        if let Some(range) = Range::parse_with(&text, options).filter(|range| range.satisfied_by(&version)) {
            prop_assert!(range.admits_prereleases_of(numbers));
        }
    }

    #[test]
    fn the_majors_of_a_range_contain_those_of_all_versions_that_it_allows(
        text in prop_oneof![range_like(), r"[<>=~^]{0,2}[0-3](\.[0-1]\.[0-1](-a)?)?( - [1-3]| <[1-3]| \|\| [~^]?[0-3])?"],
        version in r"[0-4]\.[0-1]\.[0-1](-a)?",
        include_prerelease: bool,
    ) {
        let version = Version::parse(&version).expect("it is valid");
        let options = RangeOptions { loose: true, include_prerelease };
        if let Some(range) = Range::parse_with(&text, options).filter(|range| range.satisfied_by(&version)) {
            let (lowest, highest) = range.majors();
            prop_assert!((lowest..=highest).contains(&version.major));
        }
    }

    #[test]
    fn an_obvious_major_is_that_of_the_version(text in "[v=0 ]{0,1}[0-9]{1,17}[.a-]?[0-9.]{0,4}[a+-]{0,2}") {
        if let (Some(major), Some(version)) = (obvious_major(&text), Version::parse_loose(&text)) {
            prop_assert_eq!(version.major, major);
        }
    }

    #[test]
    fn what_a_version_prints_is_that_version(text in "[0-9]{1,16}\\.[0-9]\\.[0-9](-[a-z0-9-]{1,3}(\\.[0-9]{1,18})?)?") {
        if let Some(version) = Version::parse(&text) {
            prop_assert_eq!(version.to_string(), text);
        }
    }

    #[test]
    fn order_is_total(mut versions in prop::collection::vec(close_versions(), 3)) {
        espalier_core::order::sort_by(&mut versions, Ord::cmp);
        prop_assert!(versions[0] <= versions[2]);
        prop_assert_eq!(versions[0] == versions[2], versions[0] == versions[1] && versions[1] == versions[2]);
    }

    #[test]
    fn a_range_is_a_subset_of_itself_and_its_lowest_version_satisfies_it(text in range_like()) {
        if let Some(range) = Range::parse_loose(&text) {
            prop_assert!(range.is_subset_of(&range));
            if let Some(lowest) = min_version(&range) {
                prop_assert!(range.satisfied_by(&lowest));
            }
        }
    }
}
