"""An evening at a table in scenes, for the tests of the layout and for pictures of it."""

from shoe_controller.session import inputs
from tests.web.table import Dealer

STAR_TIE = "bets;close;card Sf;card Sg;card Lf;card Lg;card Fe;card Fw;result"


def story():
    """Yield the scenes: a name, and what happens until then, a table script or one input."""
    dealer = Dealer("six-star", seed=11)
    yield "no-shoe", ""
    yield "burning", "shoe six-star decks=8 id=S-0412 burn=3;card 2f"
    yield "ready", "card 3f;card 4f"
    yield "betting", ";".join(dealer.round() for _ in range(20)) + ";bets"
    yield "no-more-bets", "close"
    yield "dealing", "card 2g;card 3g;card 2e;card Tw"
    yield "complete", "card 9a;card 7a"
    yield "result", "result"
    yield "tie-bonus", STAR_TIE
    yield "decision", "bets;close;card 9f;card 8g;card Te;card Tw;card 7f"
    yield "surplus-carried", "reconstruct;result;bets"
    yield "void-and-another", "close;card 5g;card 4h"
    yield "play-goes-on", "bets;close;card 2w"
    yield "acknowledged", inputs.Acknowledge("supervisor")
    yield "void", "void"
    yield "dragon-tail", ";".join(dealer.round("banker") for _ in range(12))
    yield "seventy-rounds", ";".join(dealer.round() for _ in range(38))
    yield "fault", inputs.RaiseFault("shoe")
    yield "fault-over", inputs.ClearFault("shoe")
    yield "cards-missing", inputs.RaiseFault("events-missing")
    yield "cards-compared", inputs.Acknowledge("supervisor")
    yield "last-round", "cut;bets"
    yield "shoe-ended", "close;card 9g;card 8a;card Tg;card Ta;result"
    dealer = Dealer("sands-super", seed=5)
    half_a_shoe = ";".join(dealer.round() for _ in range(32))
    yield "next-shoe", "shoe sands-super decks=8 id=S-0413;bets;close;card 4d;card 3h;card 4d;card 3d;result"
    yield "many-wagers", half_a_shoe + ";bets;close;card 5d;card 2h;card 3d;card 4d;result"
    yield "tie-wagers", "bets;close;card 3c;card 3h;card 3s;card 3d;result"
    yield "court-cards", "bets;close;card Ks;card Qd;card Jh;card As;card 9c;card Tc;result"


def enact(server, happens):
    """Let a scene happen at a table that is served."""
    if isinstance(happens, str):
        server.call(server.table.skip, happens)
    else:
        server.call(server.table.happen, happens)
