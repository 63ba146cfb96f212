"""The language of assertions: what is understood, and where a mistake is told to be."""

import pytest

from ctxviewer.engine.rules import USE, Rule, RuleError, RuleKind, parse_rule, parse_rules


@pytest.mark.parametrize(
    ("source", "kind", "text", "number", "is_share"),
    [
        ('contains "ACT MODE"', RuleKind.CONTAINS, "ACT MODE", 0, False),
        ('  contains   "a \\"b\\" \\\\ \\n\\t"  ', RuleKind.CONTAINS, 'a "b" \\ \n\t', 0, False),
        ('contains-from 12 "x"', RuleKind.CONTAINS_FROM, "x", 12, False),
        ('never-contains "two\nlines"', RuleKind.NEVER_CONTAINS, "two\nlines", 0, False),
        ("no-duplicate-files", RuleKind.NO_DUPLICATE_FILES, "", 0, False),
        ("usage-below 80%", RuleKind.USAGE_BELOW, "", 0.8, True),
        ("usage-below 150k", RuleKind.USAGE_BELOW, "", 150_000, False),
        ("usage-below 1.5M", RuleKind.USAGE_BELOW, "", 1_500_000, False),
        ("usage-below 99", RuleKind.USAGE_BELOW, "", 99, False),
        ("no-truncation", RuleKind.NO_TRUNCATION, "", 0, False),
        ("no-truncation-before 20", RuleKind.NO_TRUNCATION_BEFORE, "", 20, False),
        ("range-within 0", RuleKind.RANGE_WITHIN, "", 0, False),
        ("no-finding warning", RuleKind.NO_FINDING, "warning", 0, False),
        ("no-finding update-shifted", RuleKind.NO_FINDING, "update-shifted", 0, False),
    ],
)
def test_rules_that_are_understood(source, kind, text, number, is_share):
    rule = parse_rule(source, "here", "mine")
    assert rule == Rule(kind, source.strip(), text, number, is_share, "mine", "here")
    assert (rule.title, parse_rule(source).title) == ("mine", source.strip())


@pytest.mark.parametrize(
    ("source", "place", "words"),
    [
        ("", "here", "empty"),
        ("   ", "here", "empty"),
        ("contain 'x'", "here, column 1", "no rule contain"),
        ("contains", "here, column 9", "too little"),
        ("contains x", "here, column 10", "double quotes"),
        ('contains ""', "here, column 10", "empty"),
        ('contains "  "', "here, column 10", "empty"),
        ('contains "x" "y"', "here, column 14", "too much"),
        ('contains-from 0 "x"', "here, column 15", "number of a request"),
        ('contains-from x "x"', "here, column 15", "number of a request"),
        ("no-truncation-before -1", "here, column 22", "number of a request"),
        ("no-truncation-before ²", "here, column 22", "number of a request"),
        ("range-within 1.5", "here, column 14", "number of a message"),
        ("usage-below much", "here, column 13", "neither a share nor"),
        ("usage-below 0%", "here, column 13", "neither a share nor"),
        ("usage-below 80 %", "here, column 16", "too much"),
        ("no-finding Warnings", "here, column 12", "neither a severity nor a code"),
        ("no-finding warnin", "here, column 12", "neither a severity nor a code"),
        ("no-duplicate-files really", "here, column 20", "too much"),
    ],
)
def test_a_mistake_is_told_with_its_column(source, place, words):
    with pytest.raises(RuleError) as told:
        parse_rule(source, "here")
    assert told.value.place == place
    assert words in told.value.sentence


def test_every_kind_can_be_written_as_it_is_described():
    assert set(USE) == set(RuleKind)
    for kind, use in USE.items():
        source = use.split(" or ")[-1]
        for word, value in (("TEXT", "x"), ("TOKENS", "5"), ("MESSAGE", "3"), ("CODE", "odd-thing"), (" N", " 2")):
            source = source.replace(word, value)
        assert parse_rule(source).kind is kind


def test_a_file_of_rules_in_both_forms():
    rules = parse_rules(
        "rules = ['usage-below 80%', \"no-truncation\"]\n[[rule]]\nname = 'stays'\nrule = 'contains \"x\"'\n", "r.toml"
    )
    assert [(rule.kind, rule.name, rule.place) for rule in rules] == [
        (RuleKind.USAGE_BELOW, "", "r.toml, rules 1"),
        (RuleKind.NO_TRUNCATION, "", "r.toml, rules 2"),
        (RuleKind.CONTAINS, "stays", "r.toml, [[rule]] 1"),
    ]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("rules = [", "r.toml", "no TOML"),
        ("", "r.toml", "holds no rule"),
        ("rules = []", "r.toml", "holds no rule"),
        ("rule = 'contains \"x\"'", "r.toml", "must be a list"),
        ("rules = 'x'", "r.toml", "must be a list"),
        ("ruels = ['no-truncation']", "r.toml", "unknown key: ruels"),
        ("rules = [3]", "r.toml, rules 1", "no text"),
        ("rules = ['no-truncation', 'usage-below x']", "r.toml, rules 2, column 13", "neither"),
        ("[[rule]]\nname = 'x'", "r.toml, [[rule]] 1", "no `rule`"),
        ("[[rule]]\nrule = 'no-truncation'\nwhen = 1", "r.toml, [[rule]] 1", "unknown key: when"),
        ("[[rule]]\nrule = 'no-truncation'\nname = 1", "r.toml, [[rule]] 1", "name"),
        ("[[rule]]\nrule = 'no'", "r.toml, [[rule]] 1, column 1", "no rule no"),
    ],
)
def test_a_bad_file_says_where(text, place, words):
    with pytest.raises(RuleError) as told:
        parse_rules(text, "r.toml")
    assert (told.value.place, words in told.value.sentence) == (place, True), told.value.sentence
