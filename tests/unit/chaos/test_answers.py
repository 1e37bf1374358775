"""Answers that tell of what is another tenant's, not active or mixed, and answers that miss what is there."""

from dataclasses import replace
from datetime import timedelta

from tests.chaos.oracle.world import Hit, World
from tests.chaos.texts import digest_of
from tests.unit.chaos.worlds import (
    ANSWER,
    DOCUMENT,
    GONE_MARK,
    HIT,
    MARK,
    NOON,
    SPACE,
    VERSION,
    a_world,
    broken,
    complaints,
    moved,
    step,
    with_answer,
    with_document,
    with_space,
    with_version,
)

SOUND = a_world()
BROKEN = {"answers_only_active"}


def asked(second: float, until: float, world: World) -> World:
    """The world with its answer between these seconds after noon."""
    answer = replace(ANSWER, asked_at=NOON + timedelta(seconds=second), answered_at=NOON + timedelta(seconds=until))
    return replace(world, answers=(answer,))


def replaced() -> World:
    """The first document was replaced 30 seconds after noon: its text is the third mark's from then on."""
    return a_world(
        transitions=(
            *SOUND.transitions,
            step("VERSION", "ver_1", "READY", "RETIRED", 30),
            step("VERSION", "ver_1", "RETIRED", "DELETED", 40),
            *moved("VERSION", "ver_3", "CREATED", "READY", since=NOON + timedelta(seconds=29)),
        ),
        documents={**SOUND.documents, "doc_1": replace(DOCUMENT, active_version_id="ver_3")},
        versions={
            **SOUND.versions,
            "ver_1": replace(VERSION, status="DELETED"),
            "ver_3": replace(VERSION, id="ver_3", native_id="nat_3", sha256=digest_of("mark-acme-3")),
        },
        held=(replace(SOUND.held[0], version_id="ver_3", native_id="nat_3"),),
    )


def test_what_a_tenant_was_told_of_another_ones_is_told() -> None:
    world = a_world(foreign=("globex saw doc_1",))
    assert broken(world) == BROKEN
    assert complaints(world) == ["globex saw doc_1"]


def test_a_hit_of_another_tenants_document_is_told() -> None:
    world = with_answer(tenant="globex")
    assert broken(world) == BROKEN
    assert complaints(world)[0].endswith("told of document doc_1, which is not this tenant's")


def test_a_hit_of_a_document_that_nobody_knows_is_told() -> None:
    world = with_answer(hits=(HIT, replace(HIT, document_id="doc_9")))
    assert broken(world) == BROKEN
    assert complaints(world)[0].endswith("told of document doc_9, which is not this tenant's")


def test_a_hit_of_a_document_that_was_deleted_is_told() -> None:
    """The second one was active in the second after noon only; its version was READY from the fourth on."""
    world = with_answer(hits=(HIT, Hit(document_id="doc_2", marks=frozenset({GONE_MARK}))))
    assert broken(world) == BROKEN
    assert complaints(world)[0].endswith("told of document doc_2, which was not active then")


def test_a_hit_of_a_disabled_document_is_told_and_none_before_it_was_disabled() -> None:
    world = with_document(replace(DOCUMENT, status="DISABLED"), "CREATING", "ACTIVE")
    disabled = replace(world, transitions=(*world.transitions, step("DOCUMENT", "doc_1", "ACTIVE", "DISABLED", 10)))
    assert complaints(asked(8, 9, disabled)) == []
    assert broken(asked(11, 12, disabled)) == BROKEN


def test_a_hit_within_a_disabled_space_is_told_and_none_after_it_was_enabled() -> None:
    steps = (step("SPACE", "spc_1", "ACTIVE", "DISABLED", 10), step("SPACE", "spc_1", "DISABLED", "ACTIVE", 20))
    world = with_space(SPACE, "CREATING", "ACTIVE")
    world = replace(world, transitions=(*world.transitions, *steps))
    assert complaints(asked(21, 22, world)) == []
    assert broken(asked(12, 13, world)) == BROKEN


def test_a_hit_before_its_version_was_active_is_told() -> None:
    assert complaints(asked(3, 4, SOUND)) == []
    assert broken(asked(2, 3, SOUND)) == BROKEN


def test_half_a_second_is_granted_between_a_commit_and_who_sees_it() -> None:
    assert complaints(asked(2, 3.5, SOUND)) == []
    assert broken(asked(2, 3.4, SOUND)) == BROKEN


def test_a_hit_of_a_version_after_it_was_replaced_is_told() -> None:
    cited = replace(ANSWER, hits=(replace(HIT, version_id="ver_1"),))
    early = replace(cited, asked_at=NOON + timedelta(seconds=20), answered_at=NOON + timedelta(seconds=21))
    late = replace(cited, asked_at=NOON + timedelta(seconds=35), answered_at=NOON + timedelta(seconds=36))
    assert complaints(replace(replaced(), answers=(early,))) == []
    assert broken(replace(replaced(), answers=(late,))) == BROKEN


def test_a_hit_of_a_text_that_the_document_never_had_is_told() -> None:
    world = with_answer(hits=(replace(HIT, marks=frozenset({"mark-acme-7"})),))
    assert broken(world) == BROKEN
    assert complaints(world)[0].endswith("told ['mark-acme-7'] of document doc_1, which were active {}")


def test_a_hit_without_a_mark_is_told() -> None:
    assert broken(with_answer(hits=(replace(HIT, marks=frozenset()),))) == BROKEN


def test_a_citation_that_names_its_version_is_sound_and_one_that_names_another_is_told() -> None:
    assert complaints(with_answer(hits=(replace(HIT, version_id="ver_1"),))) == []
    assert broken(with_answer(hits=(replace(HIT, version_id="ver_2"),))) == BROKEN


def test_a_text_of_another_document_is_told() -> None:
    assert broken(with_answer(hits=(replace(HIT, marks=frozenset({GONE_MARK})),))) == BROKEN


def test_a_hit_that_mixes_two_texts_is_told() -> None:
    world = with_answer(hits=(replace(HIT, marks=frozenset({MARK, "mark-acme-7"})),))
    assert broken(world) == BROKEN
    assert complaints(world)[0].endswith("mixed ['mark-acme-1', 'mark-acme-7'] of doc_1")


def test_an_answer_that_mixes_two_versions_of_a_document_is_told_though_each_was_active_meanwhile() -> None:
    hits = (HIT, replace(HIT, marks=frozenset({"mark-acme-3"})))
    world = replaced()
    across = replace(ANSWER, asked_at=NOON + timedelta(seconds=29), answered_at=NOON + timedelta(seconds=31))
    assert complaints(replace(world, answers=(replace(across, hits=hits[:1]),))) == []
    assert complaints(replace(world, answers=(replace(across, hits=hits[1:]),))) == []
    mixed = replace(world, answers=(replace(across, hits=hits),))
    assert broken(mixed) == BROKEN
    assert len(complaints(mixed)) == 1
    assert complaints(mixed)[0].endswith("mixed ['mark-acme-1', 'mark-acme-3'] of doc_1")


def test_a_search_that_found_nothing_where_something_was_is_told() -> None:
    world = with_answer(hits=())
    assert broken(world) == {"never_nothing"}
    assert complaints(world)[0].endswith("found none of ['doc_1'], with 0 hits")


def test_hits_of_other_documents_are_nothing_of_what_was_expected() -> None:
    world = with_answer(expected=frozenset({"doc_7"}))
    assert broken(world) == {"never_nothing"}
    assert complaints(world)[0].endswith("found none of ['doc_7'], with 1 hits")


def test_one_of_what_was_expected_is_enough_and_nothing_may_be_found_where_nothing_was_expected() -> None:
    assert complaints(with_answer(expected=frozenset({"doc_1", "doc_7"}))) == []
    assert complaints(with_answer(hits=(), expected=frozenset())) == []


def test_a_version_that_never_was_ready_is_not_served() -> None:
    world = with_version(replace(VERSION, status="READY"), "CREATED", "UPLOADING")
    assert broken(world) == {"answers_only_active", "audit_complete"}
