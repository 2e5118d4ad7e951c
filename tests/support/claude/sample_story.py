"""The story of the sample session: a tiny shop, what its user says, what the agent does.

Owns the words, files and replies. Must not run anything: `record_sample` plays it. The tools
really run, so the outputs in the recording (red tests, a taken port, a commit) are real.
"""

from pathlib import Path

from .compaction_scripts import fills_the_window
from .model_replies import Reply, bash, summary, text, thinking, tool

CART = '''"""The cart: what a customer is about to buy. Money is integer cents."""

from dataclasses import dataclass, field


@dataclass
class Line:
    name: str
    price_cents: int
    quantity: int = 1


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, name: str, price_cents: int, quantity: int = 1) -> None:
        self.lines.append(Line(name, price_cents, quantity))

    def subtotal_cents(self) -> int:
        return sum(line.price_cents * line.quantity for line in self.lines)
'''

SERVER = '''"""GET /cart as JSON."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from shop.cart import Cart

CART = Cart()
CART.add("mug", 130)


def cart_view(cart: Cart) -> dict[str, int]:
    return {"subtotal_cents": cart.subtotal_cents()}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(cart_view(CART)).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    HTTPServer(("127.0.0.1", port), Handler).serve_forever()
'''

TEST_CART = """from shop.cart import Cart


def test_subtotal_counts_quantities():
    cart = Cart()
    cart.add("mug", 130, 2)
    assert cart.subtotal_cents() == 260
"""

PROJECT = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/server.py": SERVER,
    "tests/test_cart.py": TEST_CART,
    "README.md": "# Shop\n\nA cart over HTTP. `python -m shop.server` starts it.\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}

TAKEN_PORT = 8000  # the recorder holds it, so that starting the server there really fails

FIRST_PROMPT = (
    "House rule for this repo: money is integer cents everywhere, never floats. "
    "Round half up to the cent. And don't add any dependencies.\n\n"
    "Please add a percentage discount to the cart: Cart.apply_discount(percent), and "
    "total_cents() that takes it into account. Then show it in GET /cart and write it up in "
    "the README."
)

CORRECTION = (
    "No wait, I was wrong about the rounding: accounting wants half to even, not half up. "
    "Everything else stands. Commit when the cart tests are green."
)

SECOND_PROMPT = (
    "Good. Now GET /cart: subtotal_cents, discount_cents and total_cents. Use port 8123 for "
    "the dev server, 8000 belongs to the proxy on my machine."
)

THIRD_PROMPT = "Go on, make the server test green and finish the list."

DISCOUNT_TEST = """

def test_discount_is_rounded_to_the_cent():
    cart = Cart()
    cart.add("mug", 130)
    cart.apply_discount(75)
    assert cart.total_cents() == 33
"""

WITH_FLOATS = """        return sum(line.price_cents * line.quantity for line in self.lines)

    def apply_discount(self, percent: int) -> None:
        self.discount_percent = percent

    def total_cents(self) -> int:
        return round(self.subtotal_cents() * (1 - self.discount_percent / 100))
"""

FLOAT_TOTAL = "        return round(self.subtotal_cents() * (1 - self.discount_percent / 100))\n"
HALF_UP_TOTAL = """        kept = self.subtotal_cents() * (100 - self.discount_percent)
        return (kept + 50) // 100
"""
HALF_EVEN_TOTAL = """        kept = self.subtotal_cents() * (100 - self.discount_percent)
        cents, rest = divmod(kept, 100)
        return cents + (rest > 50 or (rest == 50 and cents % 2 == 1))
"""

SERVER_TEST = """from shop.cart import Cart
from shop.server import cart_view


def test_view_shows_the_discount():
    cart = Cart()
    cart.add("mug", 130)
    cart.apply_discount(75)
    assert cart_view(cart) == {
        "subtotal_cents": 130,
        "discount_cents": 98,
        "total_cents": 32,
    }
"""

OLD_VIEW = '    return {"subtotal_cents": cart.subtotal_cents()}\n'
WRONG_VIEW = """    total = cart.total_cents()
    return {
        "subtotal_cents": cart.subtotal_cents(),
        "discount_cents": cart.discount_percent,
        "total_cents": total,
    }
"""
RIGHT_VIEW = WRONG_VIEW.replace("cart.discount_percent", "cart.subtotal_cents() - total")

# What a model made of this session: true, readable, and without the correction's words, the
# port, the dead end and the red test. That loss is what the sample is for.
SUMMARY = """1. Primary Request and Intent:
   The user wants percentage discounts in the shop: apply_discount and total_cents on the Cart, \
the discount in GET /cart, and documentation in the README.

2. Key Technical Concepts:
   - Python dataclasses, http.server, pytest
   - Integer arithmetic for money

3. Files and Code Sections:
   - shop/cart.py: apply_discount and total_cents were added and committed.
   - shop/server.py: cart_view is being extended with the discount fields.
   - tests/test_cart.py, tests/test_server.py: tests for the above.

4. Problem Solving:
   The discount arithmetic was implemented and its tests pass.

5. Pending Tasks:
   - Expose the discount in GET /cart
   - Document discounts in the README

6. Current Work:
   Extending cart_view in shop/server.py.

7. Optional Next Step:
   Finish cart_view, then update the README."""

PYTEST = "python -m pytest -q -p no:cacheprovider --no-header"


def first_turn(root: Path) -> list[Reply]:
    cart, tests = str(root / "shop/cart.py"), str(root / "tests/test_cart.py")
    return [
        thinking("Three pieces of work. List them, then look at the cart.")
        + text("I'll list the work, then start with the cart.")
        + tool(
            "TaskCreate",
            subject="Add Cart.apply_discount and total_cents",
            description="Integer cents only, rounded to the cent",
            activeForm="Adding the discount to the cart",
        ),
        tool(
            "TaskCreate",
            subject="Expose the discount in GET /cart",
            description="cart_view in shop/server.py",
            activeForm="Exposing the discount",
        ),
        tool(
            "TaskCreate",
            subject="Document discounts in the README",
            description="A short section with an example",
            activeForm="Documenting discounts",
        ),
        tool("TaskUpdate", taskId="1", status="in_progress"),
        tool("Read", file_path=cart) + tool("Read", file_path=tests),
        text("A test first.") + tool("Write", file_path=tests, content=TEST_CART + DISCOUNT_TEST),
        bash(f"{PYTEST} tests/test_cart.py", "Run the cart tests"),
        tool(
            "Edit",
            file_path=cart,
            old_string=WITH_FLOATS.splitlines(keepends=True)[0],
            new_string=WITH_FLOATS,
        ),
        tool(
            "Edit",
            file_path=cart,
            old_string="    lines: list[Line] = field(default_factory=list)\n",
            new_string="    lines: list[Line] = field(default_factory=list)\n"
            "    discount_percent: int = 0\n",
        ),
        bash(f"{PYTEST} tests/test_cart.py", "Run the cart tests"),
        text(
            "That is a dead end: round() on a float product gives 32 for 130 cents at 75 % off, "
            "and it breaks the no-floats rule anyway. Integer arithmetic instead."
        )
        + tool("Edit", file_path=cart, old_string=FLOAT_TOTAL, new_string=HALF_UP_TOTAL),
        bash(f"{PYTEST} tests/test_cart.py", "Run the cart tests"),
        text("The cart tests are green: the discount rounds half up, in integer cents."),
    ]


def corrected_turn(root: Path) -> list[Reply]:
    cart, tests = str(root / "shop/cart.py"), str(root / "tests/test_cart.py")
    return [
        text("Half to even, then.")
        + tool("Edit", file_path=cart, old_string=HALF_UP_TOTAL, new_string=HALF_EVEN_TOTAL)
        + tool(
            "Edit",
            file_path=tests,
            old_string="cart.total_cents() == 33",
            new_string="cart.total_cents() == 32",
        ),
        bash(f"{PYTEST} tests/test_cart.py", "Run the cart tests"),
        bash(
            'git add -A && git commit -q -m "Add a percentage discount to the cart" '
            "&& git log --oneline -1",
            "Commit the cart",
        ),
        tool("TaskUpdate", taskId="1", status="completed")
        + tool("TaskUpdate", taskId="2", status="in_progress"),
        text("Committed. The cart rounds half to even now; GET /cart is next."),
    ]


def server_turn(root: Path) -> list[Reply]:
    server, tests = str(root / "shop/server.py"), str(root / "tests/test_server.py")
    return [
        tool("Read", file_path=server),
        bash("python -m shop.server", "Start the dev server"),
        text(f"Port {TAKEN_PORT} is taken, as you said. I'll make 8123 the default.")
        + tool("Edit", file_path=server, old_string="default=8000", new_string="default=8123"),
        tool("Write", file_path=tests, content=SERVER_TEST),
        tool("Edit", file_path=server, old_string=OLD_VIEW, new_string=WRONG_VIEW),
        bash(f"{PYTEST} tests/test_server.py", "Run the server test"),
        text(
            "test_view_shows_the_discount is still red: discount_cents shows the percentage, 75, "
            "where the test wants 98 cents. I'll compute it from the totals next."
        ),
    ]


def turn_after_compaction(root: Path) -> list[Reply]:
    server, tests = str(root / "shop/server.py"), str(root / "tests/test_server.py")
    readme = str(root / "README.md")
    section = (
        "\n## Discounts\n\n`Cart.apply_discount(percent)` lowers `total_cents()`; amounts are "
        "integer cents, rounded half to even. GET /cart shows `subtotal_cents`, "
        "`discount_cents` and `total_cents`. The dev server listens on port 8123.\n"
    )
    return [
        # The client compacts after this call, in the middle of the turn.
        fills_the_window(bash("git status --short && git log --oneline -2", "Where are we")),
        bash(f"{PYTEST} tests/test_server.py", "Run the server test"),
        tool("Read", file_path=tests) + tool("Read", file_path=server),
        tool("Edit", file_path=server, old_string=WRONG_VIEW, new_string=RIGHT_VIEW),
        bash(f"{PYTEST}", "Run all tests"),
        bash(
            "python -m shop.server --port 8123 & pid=$!; "
            "curl -s --retry 5 --retry-connrefused http://127.0.0.1:8123/cart; kill $pid",
            "Ask the running server",
        ),
        tool("TaskUpdate", taskId="2", status="completed")
        + tool("TaskUpdate", taskId="3", status="in_progress"),
        tool("Read", file_path=readme),
        tool(
            "Edit",
            file_path=readme,
            old_string="`python -m shop.server` starts it.\n",
            new_string="`python -m shop.server` starts it.\n" + section,
        ),
        text("GET /cart shows the discount, all tests are green, and the README has a section."),
    ]


def turns(root: Path) -> list[tuple[str, list[Reply]]]:
    return [
        (FIRST_PROMPT, first_turn(root)),
        (CORRECTION, corrected_turn(root)),
        (SECOND_PROMPT, server_turn(root)),
        (THIRD_PROMPT, turn_after_compaction(root)),
    ]


def summaries() -> list[Reply]:
    return [summary(SUMMARY, "Discounts for the shop; cart done, server in the works.")]
