"""Whatever happens at a table, in whatever order: nothing raises, no card is lost, no old result changes."""

from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shoe_controller.machine.states import BETTING, BETWEEN_ROUNDS, COMPLETE, DEALING, DECISION, STATES
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.findings import MOST_ALARMS
from shoe_controller.session.session import Session
from tests.session.happenings import cards_of, device_results, draws, notes, shoes, wagers, wrong_shoes


class AnyTable(RuleBasedStateMachine):
    """Three sessions that see the same: by `transitions`, by the table of rows, and resumed at the last shoe."""

    def __init__(self):
        super().__init__()
        self.table = Session("transitions")
        self.fast = Session("table")
        self.resumed = None
        self.recorded = []
        self.facts = []
        self.game = None
        self.forget_shoe()

    def forget_shoe(self):
        self.left = Counter()  # faces that came out of the shoe, those pushed back taken off
        self.returned = Counter()
        self.blind = 0
        self.told = Counter()  # faces that facts of this shoe named
        self.rounds = {}

    def happen(self, happened):
        found = self.table.handle(happened)
        assert found, f"{happened} had no answer"
        assert found == self.fast.handle(happened)
        assert self.table.view() == self.fast.view()
        if self.resumed:
            assert found == self.resumed.handle(happened)
            assert self.table.view() == self.resumed.view()
        self.recorded.append(happened)
        self.facts.append(found)
        self.look(happened, found)
        return found

    def look(self, happened, found):
        loaded = next((fact for fact in found if isinstance(fact, f.ShoeLoaded)), None)
        if loaded:
            self.forget_shoe()
            self.game = loaded.game
            self.resumed = Session.resume(happened, loaded, "table")  # built often: the engine that is built fast
            assert self.resumed.view() == self.table.view()
        for fact in found:
            self.follow(fact)
        refused = all(isinstance(fact, f.Refused) for fact in found)
        if not refused and isinstance(happened, i.DrawCard | i.DrawTogether):
            codes = (happened.code,) if isinstance(happened, i.DrawCard) else happened.codes
            self.left.update(codes)
            for code in codes:
                assert self.told[code] >= self.left[code] - self.returned[code], f"nothing was said of {code}"
        if isinstance(happened, i.ReturnCard):
            self.returned[happened.code] += 1

    def follow(self, fact):
        if isinstance(fact, f.Irregularity):
            self.told.update(fact.cards)
        elif isinstance(fact, f.Burned | f.CardDealt):
            self.told[fact.card] += 1
        elif isinstance(fact, f.Round):
            self.check_round(fact)

    def check_round(self, fact):
        assert fact.round == self.table.view().shoe.rounds, "only the newest round can be published"
        before = self.rounds.get(fact.round)
        assert fact.revision == (before.revision + 1 if before else 1)
        assert before is None or (before.status, fact.status) == ("complete", "void")
        self.rounds[fact.round] = fact
        if fact.status == "void":
            assert (fact.winner, fact.pays, fact.pushes) == (None, {}, ())
        else:
            assert fact.winner
            assert fact.pays
            assert fact.void_rule is None

    # ---- what happens ----------------------------------------------------------------------------------------

    @initialize(load=shoes())
    def first_shoe(self, load):
        self.happen(load)

    @precondition(lambda self: self.table.state in ("shoe_ended", "ready"))
    @rule(load=shoes())
    def next_shoe(self, load):
        self.happen(load)

    @rule(load=wrong_shoes)
    def wrong_shoe(self, load):
        before = self.table.view()
        (answer,) = self.happen(load)
        assert isinstance(answer, f.Refused)
        assert self.table.view() == before

    @rule(data=st.data())
    def play_on(self, data):
        """What a dealer does next if nothing goes wrong."""
        state = self.table.state
        card = cards_of(self.game)
        if state in BETWEEN_ROUNDS:
            self.happen(i.PlaceBets())
        elif state == BETTING:
            self.happen(i.NoMoreBets())
        elif state in DEALING or state == "burning":
            self.happen(i.DrawCard(data.draw(card)))
        elif state == COMPLETE:
            self.happen(i.AnnounceResult())
        elif state == DECISION:
            self.happen(i.Reconstruct())
        else:
            self.happen(data.draw(shoes()))

    @rule(data=st.data())
    def play_a_round(self, data):
        for _ in range(12):
            self.play_on(data)

    @rule(data=st.data())
    def draw(self, data):
        self.happen(data.draw(draws(self.game)))

    @rule(wager=wagers)
    def wager(self, wager):
        self.happen(wager)

    @rule(call=st.sampled_from([i.PlaceBets(), i.NoMoreBets(), i.AnnounceResult(), i.CutCard(), i.ShoeEmpty()]))
    def call(self, call):
        self.happen(call)

    @rule(note=st.one_of(notes, device_results))
    def note(self, note):
        self.happen(note)

    @precondition(lambda self: self.table.state == DECISION)
    @rule(data=st.data())
    def decide(self, data):
        view = self.table.view()
        waiting = view.open_irregularities[0].cards
        cards = st.one_of(
            st.just(waiting),
            st.permutations(waiting).map(tuple),
            st.permutations(view.round.player + view.round.banker if view.round else ()).map(tuple),
            cards_of(self.game).map(lambda code: (code,)),
        )
        self.happen(data.draw(st.one_of(st.builds(i.Void), st.builds(i.Reconstruct, cards))))

    @rule()
    def void(self):
        self.happen(i.Void("dispute", "supervisor"))

    # ---- what is always true ---------------------------------------------------------------------------------

    @invariant()
    def the_view_is_of_one_piece(self):
        view = self.table.view()
        assert view.state in STATES
        assert (view.state == DECISION) == bool(view.open_irregularities)
        assert view.gate_open == ((view.next is not None) or (view.state == "burning" and not view.faults))
        assert view.next is None or view.state in DEALING
        assert len(view.unacknowledged) <= MOST_ALARMS
        assert view.alarm == bool(view.unacknowledged or "events-missing" in view.faults)
        if view.shoe:
            assert view.shoe.cards >= 0
            assert all(number >= 0 for number in self.table._shoe._seen.values())

    def teardown(self):
        again = Session("table")
        assert [again.handle(happened) for happened in self.recorded] == self.facts
        assert again.view() == self.table.view()
        ended = again.end_of_script()
        assert ended == self.table.end_of_script()
        for fact in ended:
            decks, faces = again._shoe.load.decks, again._shoe.rules.deck.faces
            assert sum(fact.missing.values()) + fact.cards == (
                decks * len(faces) + sum(fact.extra.values()) + fact.unreadable
            )


AnyTable.TestCase.settings = settings(
    max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestAnySequence = AnyTable.TestCase
