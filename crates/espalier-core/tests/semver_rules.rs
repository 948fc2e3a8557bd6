//! The rules of npm's versions and ranges, with a table for each.

use espalier_core::semver::{
    Identifier, Range, RangeOptions, Version, max_satisfying, min_version, satisfies, valid_range,
};

const LOOSE: bool = true;
const STRICT: bool = false;

fn strict(text: &str) -> Option<String> {
    Version::parse(text).map(|version| version.to_string())
}

fn loose(text: &str) -> Option<String> {
    Version::parse_loose(text).map(|version| version.to_string())
}

fn including_prereleases(text: &str) -> Range {
    Range::parse_with(text, RangeOptions { include_prerelease: true, loose: false }).expect(text)
}

/// Asserts the normal form of each range in a table, which is absent for an invalid range.
fn assert_normal_forms(loose: bool, table: &[(&str, Option<&str>)]) {
    for (range, normal) in table {
        assert_eq!(valid_range(range, loose).as_deref(), *normal, "{range:?}");
    }
}

#[test]
fn a_version_is_split_into_its_parts() {
    let version = Version::parse("1.20.300-beta.4.x5+sha.0a1").expect("it is valid");
    assert_eq!((version.major, version.minor, version.patch), (1, 20, 300));
    assert_eq!(
        version.prerelease,
        [Identifier::Text("beta".into()), Identifier::Numeric(4), Identifier::Text("x5".into())]
    );
    assert_eq!(version.build, ["sha".into(), "0a1".into()]);
    assert_eq!(version.to_string(), "1.20.300-beta.4.x5");
}

#[test]
fn strict_versions_allow_whitespace_and_a_leading_v_around_them() {
    for text in ["1.2.3", " 1.2.3 ", "v1.2.3", "\u{feff}1.2.3\u{a0}\n", "1.2.3+build"] {
        assert_eq!(strict(text).as_deref(), Some("1.2.3"), "{text:?}");
    }
    for text in ["", "1", "1.2", "1.2.3.4", "=1.2.3", "v 1.2.3", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3beta", "1.x.3"] {
        assert_eq!(strict(text), None, "{text:?}");
    }
    assert_eq!(strict("\u{85}1.2.3"), None, "JavaScript doesn't count U+0085 as whitespace");
}

#[test]
fn loose_versions_allow_zeros_prefixes_and_a_missing_hyphen() {
    let table = [
        ("=1.2.3", "1.2.3"),
        ("v = v1.2.3", "1.2.3"),
        ("01.002.3", "1.2.3"),
        ("1.2.3beta", "1.2.3-beta"),
        ("1.2.3-01", "1.2.3-1"),
        ("1.2.3-", "1.2.3--"),
        ("1.2.34.5", "1.2.3-4.5"),
    ];
    for (text, normal) in table {
        assert_eq!(loose(text).as_deref(), Some(normal), "{text:?}");
    }
    for text in ["1.2", "1.2.3.4", "1.2.3-a..b", "latest"] {
        assert_eq!(loose(text), None, "{text:?}");
    }
}

#[test]
fn versions_are_bounded_in_length_and_number() {
    let longest = format!("1.2.3-{}", "a".repeat(250));
    assert!(Version::parse(&longest).is_some());
    assert_eq!(strict(&format!("{longest}a")), None);
    assert_eq!(strict(&format!("{longest} ")), None, "whitespace counts");
    assert_eq!(strict("9007199254740991.0.0").as_deref(), Some("9007199254740991.0.0"));
    assert_eq!(strict("9007199254740992.0.0"), None);
    assert_eq!(strict(&format!("{}.0.0", "9".repeat(200))), None);
}

#[test]
fn precedence_follows_the_specification() {
    let ascending = [
        "0.0.0-0",
        "0.0.0",
        "0.9.9",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-alpha0",
        "1.0.0-beta",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "1.1.0",
        "2.0.0",
        "10.0.0",
    ]
    .map(|text| Version::parse(text).expect(text));
    for (index, lower) in ascending.iter().enumerate() {
        assert_eq!(lower.compare(lower), std::cmp::Ordering::Equal);
        for higher in &ascending[index + 1..] {
            assert!(lower < higher && lower.compare(higher).is_lt(), "{lower} < {higher}");
            assert!(higher > lower && higher.compare(lower).is_gt(), "{higher} > {lower}");
        }
    }
}

#[test]
fn build_metadata_counts_only_where_it_is_asked_for() {
    let [plain, first, second] = ["1.0.0", "1.0.0+2", "1.0.0+10"].map(|text| Version::parse(text).expect(text));
    assert!(plain == first && first == second);
    assert!(plain.compare_build(&first).is_lt());
    assert!(first.compare_build(&second).is_lt());
}

#[test]
fn large_numeric_identifiers_compare_as_javascript_numbers() {
    let [low, high] =
        ["1.0.0-9007199254740992.a", "1.0.0-9007199254740993.b"].map(|text| Version::parse(text).expect(text));
    assert!(low.compare(&high).is_eq(), "node-semver stops at numbers that are the same double");
    assert!(low < high, "sorting has to look further to be consistent");
}

#[test]
fn carets_reach_to_the_next_change_of_the_leftmost_number_that_is_not_zero() {
    assert_normal_forms(
        STRICT,
        &[
            ("^1.2.3", Some(">=1.2.3 <2.0.0-0")),
            ("^0.1.2", Some(">=0.1.2 <0.2.0-0")),
            ("^0.0.1", Some(">=0.0.1 <0.0.2-0")),
            ("^0.0.0", Some("<0.0.1-0")),
            ("^1.2.3-beta.4", Some(">=1.2.3-beta.4 <2.0.0-0")),
            ("^1", Some(">=1.0.0 <2.0.0-0")),
            ("^0.1", Some(">=0.1.0 <0.2.0-0")),
            ("^0.x", Some("<1.0.0-0")),
            ("^ 1.2", Some(">=1.2.0 <2.0.0-0")),
            ("^v1.2.3", Some(">=1.2.3 <2.0.0-0")),
            ("^*", Some("*")),
            ("^9007199254740991.0.0", None),
            ("^>=1.2.3", None),
            ("^01.2.3", None),
        ],
    );
    assert_normal_forms(
        LOOSE,
        &[("^01.2.3beta", Some(">=1.2.3-beta <2.0.0-0")), ("^00.1.2", Some(">=0.1.2 <1.0.0-0"))],
    );
}

#[test]
fn tildes_reach_to_the_next_minor() {
    assert_normal_forms(
        STRICT,
        &[
            ("~1.2.3", Some(">=1.2.3 <1.3.0-0")),
            ("~>1.2.3", Some(">=1.2.3 <1.3.0-0")),
            ("~> 1.2.3", Some(">=1.2.3 <1.3.0-0")),
            ("~ > 1.2.3", Some(">=1.2.3 <1.3.0-0")),
            ("~1.2", Some(">=1.2.0 <1.3.0-0")),
            ("~1", Some(">=1.0.0 <2.0.0-0")),
            ("~0.0.1-a", Some(">=0.0.1-a <0.1.0-0")),
            ("~x", Some("*")),
            ("~*", Some("*")),
            ("~=1.2", Some(">=1.2.0 <1.3.0-0")),
            ("~<1.2", None),
        ],
    );
}

#[test]
fn wildcards_stand_for_any_number() {
    assert_normal_forms(
        STRICT,
        &[
            ("", Some("*")),
            (" ", Some("*")),
            ("*", Some("*")),
            ("x", Some("*")),
            (">=*", Some("*")),
            ("<*", Some("<0.0.0-0")),
            (">X", Some("<0.0.0-0")),
            ("1", Some(">=1.0.0 <2.0.0-0")),
            ("=1.x.X", Some(">=1.0.0 <2.0.0-0")),
            ("1.2.*", Some(">=1.2.0 <1.3.0-0")),
            ("1.2.x-beta", Some(">=1.2.0 <1.3.0-0")),
            (">1", Some(">=2.0.0")),
            (">1.2", Some(">=1.3.0")),
            (">=1.2", Some(">=1.2.0")),
            ("<1", Some("<1.0.0-0")),
            ("<=1.2", Some("<1.3.0-0")),
            ("vv==1", Some(">=1.0.0 <2.0.0-0")),
            ("x.1", None),
            ("1.x.3", None),
            ("1.2.3*", Some("1.2.3")),
            ("1.2.3>=*", Some("1.2.3")),
            ("**", None),
        ],
    );
}

#[test]
fn hyphens_include_both_ends() {
    assert_normal_forms(
        STRICT,
        &[
            ("1.2.3 - 2.3.4", Some(">=1.2.3 <=2.3.4")),
            ("1.2 - 2.3", Some(">=1.2.0 <2.4.0-0")),
            ("1 - 2", Some(">=1.0.0 <3.0.0-0")),
            ("1.2.3-a - 2.3.4-b", Some(">=1.2.3-a <=2.3.4-b")),
            ("1.2.3+a - 2.3.4+b", Some(">=1.2.3 <=2.3.4")),
            ("* - 2", Some("<3.0.0-0")),
            ("1 - *", Some(">=1.0.0")),
            ("* - *", Some("*")),
            ("v1.2.3 - v2.0.0", Some(">=1.2.3 <=2.0.0")),
            ("=1.2.3 - 2", None),
            ("1.2.3 -2.3.4", None),
            ("1 - 2 3", None),
        ],
    );
}

#[test]
fn comparators_join_and_alternatives_add() {
    assert_normal_forms(
        STRICT,
        &[
            (">=1.2.3 <2", Some(">=1.2.3 <2.0.0-0")),
            ("> 1.2.3\t<\n2.0.0", Some(">1.2.3 <2.0.0")),
            ("= 1.2.3", Some("1.2.3")),
            ("> = 1.2.3", None),
            ("1.2.3 1.2.3", Some("1.2.3")),
            ("* >=1.2.3", Some(">=1.2.3")),
            (">=0.0.0 <1.2.3", Some("<1.2.3")),
            (">=1.2.3 <0.0.0-0", Some("<0.0.0-0")),
            ("1.2.3||2.3.4 ||>3", Some("1.2.3||2.3.4||>=4.0.0")),
            ("1.2.3 || *", Some("*")),
            ("1.2.3 || <*", Some("1.2.3")),
            ("<* || >*", Some("<0.0.0-0")),
            ("||", Some("*")),
            ("1.2.3 |", None),
            ("1.2.3+build", Some("1.2.3")),
            ("latest", None),
            (">==1.2.3", None),
        ],
    );
}

#[test]
fn loose_ranges_pass_over_what_cannot_be_read() {
    assert_normal_forms(
        LOOSE,
        &[
            ("^>=6.0.0 <=6.1.1", Some("<=6.1.1")),
            ("> = 1.2.3", Some("1.2.3")),
            (">==1.2.3", Some(">=1.2.3")),
            ("=v 1.2.3", Some("1.2.3")),
            ("1.2.3 foo || bar", Some("1.2.3")),
            ("foo *", Some("*")),
            ("foo * bar", None),
            ("latest", None),
            ("1.2.3 99999999999999999999.0.0", None),
            ("1.2.3 <=99999999999999999999", None),
            ("1.2.3 <=9999999999999999999999", Some("1.2.3")),
            (">1.12345678901234567890123", Some(">=1.1.2345678901234568-e")),
        ],
    );
}

#[test]
fn prereleases_satisfy_only_a_comparator_that_names_one_with_their_numbers() {
    let table = [
        ("1.2.3-beta", "^1.2.3-alpha", true),
        ("1.2.4-beta", "^1.2.3-alpha", false),
        ("1.2.3-alpha", "^1.2.3-beta", false),
        ("1.2.3-beta", "*", false),
        ("1.2.3-beta", "1.2.3-alpha || 1.x", false),
        ("2.0.0-rc.1", ">=1.0.0 <2.0.0", false),
        ("2.0.0-rc.1", ">=1.0.0 <=2.0.0-rc.2", true),
        ("1.2.3", "^1.2.3-alpha", true),
    ];
    for (version, range, expected) in table {
        assert_eq!(satisfies(version, range, LOOSE), expected, "{version} in {range}");
    }
}

#[test]
fn including_prereleases_moves_bounds_as_well() {
    let normal = |text| including_prereleases(text).to_string();
    assert_eq!(normal("1.2"), ">=1.2.0-0 <1.3.0-0");
    assert_eq!(normal("~1.2"), ">=1.2.0-0 <1.3.0-0");
    assert_eq!(normal("^1"), ">=1.0.0-0 <2.0.0-0");
    assert_eq!(normal("^1.2.3"), ">=1.2.3 <2.0.0-0");
    assert_eq!(normal("1.2.3 - 2.3.4"), ">=1.2.3-0 <2.3.5-0");
    assert_eq!(normal(">=0.0.0"), ">=0.0.0");
    assert_eq!(normal(">=0.0.0-0"), "");
    let beta = Version::parse("1.2.0-beta").expect("it is valid");
    assert!(including_prereleases("1.x").satisfied_by(&beta));
    assert!(!including_prereleases(">=1.2.0").satisfied_by(&beta));
}

#[test]
fn invalid_versions_and_ranges_satisfy_nothing() {
    assert!(!satisfies("1.2", "*", LOOSE));
    assert!(!satisfies("1.2.3", "latest", LOOSE));
    assert!(!satisfies("=1.2.3", "*", STRICT));
}

#[test]
fn the_highest_satisfying_version_is_returned_as_written() {
    let versions = ["1.2.3", "=1.4.0", "2.0.0", "nonsense", "1.4.0", "1.5.0-beta"];
    assert_eq!(max_satisfying(versions, "^1.2", LOOSE), Some("=1.4.0"));
    assert_eq!(max_satisfying(versions, "^1.2", STRICT), Some("1.4.0"));
    assert_eq!(max_satisfying(versions, "^3", LOOSE), None);
    assert_eq!(max_satisfying(versions, "nonsense", LOOSE), None);
}

#[test]
fn the_lowest_version_of_a_range_is_known() {
    let table = [
        ("*", Some("0.0.0")),
        ("<1.0.0", Some("0.0.0")),
        ("<0.0.0-beta", Some("0.0.0-0")),
        ("^1.2", Some("1.2.0")),
        (">1.2.3", Some("1.2.4")),
        (">1.2.3-a", Some("1.2.3-a.0")),
        (">2 || 1.x", Some("1.0.0")),
        (">4 <3", None),
    ];
    for (range, expected) in table {
        let lowest = min_version(&Range::parse(range).expect(range));
        assert_eq!(lowest.map(|version| version.to_string()).as_deref(), expected, "{range}");
    }
}

#[test]
fn ranges_intersect_where_their_bounds_meet() {
    let table = [
        ("^1.2.3", "1.x", true),
        ("^1.2.3", "^2", false),
        (">=2 <3", "2.5.0 || 7", true),
        ("<2.0.0", ">=2.0.0", false),
        ("<=2.0.0", ">=2.0.0", true),
        ("<0.0.0", "*", true),
        ("<0.0.0", "<1", false),
        ("*", "1.2.3-beta", true),
        ("1.2.3-beta", "*", false),
        (">3 <2", "*", false),
    ];
    for (left, right, expected) in table {
        let [left_range, right_range] = [left, right].map(|text| Range::parse(text).expect(text));
        assert_eq!(left_range.intersects(&right_range), expected, "{left} and {right}");
    }
}

#[test]
fn a_subset_allows_nothing_that_the_other_does_not() {
    let table = [
        ("1.2.3", "^1.2", true),
        ("^1.2", "1.2.3", false),
        ("^1.2.3", "1.x || 2.x", true),
        ("1.x || 2.x", "1.x", false),
        ("*", ">=0.0.0", true),
        ("*", ">=1.0.0", false),
        (">=1.2.3-beta", ">=1.0.0", false),
        (">=1.2.3-beta", ">=1.2.3-alpha", true),
        (">1.0.0 <1.0.1", "<2", true),
        (">1.0.0", "<2", false),
        (">3 <2", "7", true),
        ("1.2.3 2.3.4", "7", true),
    ];
    for (inner, outer, expected) in table {
        let [inner_range, outer_range] = [inner, outer].map(|text| Range::parse(text).expect(text));
        assert_eq!(inner_range.is_subset_of(&outer_range), expected, "{inner} in {outer}");
    }
}
