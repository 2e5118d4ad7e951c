"""Every view shows what the API knows, and leads on to the next."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import Window
from .dashboard_data import MANY, Scene


def test_projects_and_sessions_are_listed_and_lead_on(window: Window, scene: Scene) -> None:
    page = window.open()
    sessions = page.get_by_role("region", name="Sessions, latest first")
    known = scene.get("sessions")["sessions"]
    expect(sessions.locator("tbody tr")).to_have_count(len(known))
    projects = page.get_by_role("navigation", name="Projects")
    projects.get_by_role("link", name="/srv/app").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("app")
    expect(sessions.locator("tbody tr th")).to_have_text(["Authmain · session-"])
    sessions.get_by_role("link", name="Auth").click()
    expect(page).to_have_title("Auth · Holdfast")


def test_among_many_projects_one_is_found_by_its_words(window: Window, scene: Scene) -> None:
    for number in range(12):
        scene.save(f"many-{number}", f"Number {number}", 1, f"/srv/many/p{number}")
    page = window.open()
    projects = page.get_by_role("navigation", name="Projects")
    projects.get_by_role("searchbox", name="Find a project").fill("many/p1")
    expect(projects.get_by_role("link")).to_have_count(4)  # all, and p1, p10, p11
    projects.get_by_role("link", name="/srv/many/p11").click()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_the_first_page_says_what_compaction_cost_and_leads_on(
    window: Window, scene: Scene
) -> None:
    (one,) = [
        each for each in scene.get("overview")["compactions"] if each["session_id"] == scene.sample
    ]
    page = window.open()
    answer = page.get_by_role("region", name="What compaction cost")
    expect(answer.locator(".headline")).to_contain_text("Of what mattered, the summaries kept")
    expect(answer.locator(".tile", has_text="Money")).to_contain_text("estimated")
    worst = answer.locator(".worst li", has_text=one["name"][:40])
    expect(worst).to_contain_text(f"{one['lost']} of {one['kept'] + one['lost']} facts lost")
    place = f"#/sessions/{scene.sample}/compactions/0"
    answer.locator(f'.columns a[href="{place}"]').click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compaction 1 of 1")


def test_a_sessions_life_is_drawn_with_its_drop_and_its_marks(window: Window, scene: Scene) -> None:
    life = scene.get(f"sessions/{scene.sample}/life")
    page = window.open(f"#/sessions/{scene.sample}")
    chart = page.locator("figure.life")
    expect(chart.locator(".plot .drop")).to_have_count(1)
    expect(chart.locator(".plot .checkpoint")).to_have_count(len(life["checkpoints"]))
    expect(chart.locator(".plot .given")).to_have_count(1)
    assert len(chart.locator("path.context").first.get_attribute("d") or "") > 200
    assert chart.locator(".plot .tick").count() >= 7, "both axes say how much"
    expect(chart.get_by_role("list", name="Legend")).to_contain_text("checkpoint")
    expect(chart.locator("figcaption")).to_contain_text("1 compaction and 1 checkpoint")
    tile = page.locator(".tile", has_text="Context now").locator(".big")
    now = life["points"][-1]["context"]
    expect(tile).to_have_text(f"{now / 1000:.1f}k".replace(".0k", "k"))


def test_the_chart_can_be_read_as_a_table(window: Window, scene: Scene) -> None:
    life = scene.get(f"sessions/{scene.sample}/life")
    page = window.open(f"#/sessions/{scene.sample}")
    page.get_by_text("Show as table").click()
    rows = page.get_by_role("region", name="What the chart shows").locator("tbody tr")
    marks = ("points", "compactions", "checkpoints", "deliveries")
    expect(rows).to_have_count(sum(len(life[mark]) for mark in marks))


def test_a_compaction_stands_side_by_side(window: Window, scene: Scene) -> None:
    close = scene.get(f"sessions/{scene.sample}/compactions/0")
    page = window.open(f"#/sessions/{scene.sample}")
    page.locator("a.flag").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compaction 1 of 1")
    counts = {
        "The summary kept": len(close["kept"]),
        "The summary lost": len(close["lost"]),
        "Restored by Holdfast": len(close["given"][-1]["facts"]),
        "Repeated look-ups": len(close["again"]),
    }
    assert all(counts.values())
    tops = set()
    for name, count in counts.items():
        column = page.get_by_role("region", name=name)
        expect(column.locator("h2 .count")).to_have_text(str(count))
        box = column.bounding_box()
        assert box is not None
        tops.add(box["y"])
    assert len(tops) == 1, "side by side"
    lost = page.get_by_role("region", name="The summary lost")
    back = sum(bool(fact["back"]) for fact in close["lost"])
    expect(lost.get_by_text("restored", exact=True)).to_have_count(back)
    rule = next(fact["text"] for fact in close["lost"] if fact["kind"] == "rule")
    expect(lost).to_contain_text(rule[:60])
    again = page.get_by_role("region", name="Repeated look-ups")
    expect(again).to_contain_text("tests/test_cart.py")
    page.get_by_text("The client’s summary").click()
    expect(page.get_by_text("This session is being continued").first).to_be_visible()


def test_the_conversation_before_a_compaction_is_shown_page_by_page(
    window: Window, scene: Scene
) -> None:
    place = f"sessions/{scene.sample}/compactions/0"
    said = scene.get(f"{place}/conversation", limit=500)["messages"]
    assert len(said) > 30, "more than one page"
    assert all(one["time"] <= scene.get(place)["compaction"]["time"] for one in said)
    page = window.open(f"#/{place}")
    card = page.locator("details.before")
    turns = card.locator("li.turn")
    expect(turns).to_have_count(0)
    card.get_by_role("heading", name="The conversation before").click()
    expect(turns).to_have_count(30)
    expect(turns.last).to_contain_text(said[-1]["text"].split("\n")[0][:60])
    for shown in range(60, len(said) + 30, 30):
        card.get_by_role("button", name="Earlier").click()
        expect(turns).to_have_count(min(shown, len(said)))
    expect(turns.first).to_contain_text(said[0]["text"].split("\n")[0][:60])
    expect(turns.first).to_contain_text("User")
    expect(card.get_by_role("button", name="Earlier")).to_be_hidden()
    # The client's own file is not asked for: what the store keeps is shown without it.
    expect(page.locator("main")).to_contain_text("Secrets are removed")


def test_tasks_stand_in_waves_with_their_agents(window: Window, scene: Scene) -> None:
    page = window.open(f"#/tasks/{scene.project()}")
    board = page.get_by_role("region", name="Auth")
    now = board.get_by_role("region", name="Ready")
    expect(now.locator(".task strong")).to_have_text(["Create auth routes"])
    expect(now).to_contain_text("in progress")
    after = board.get_by_role("region", name="Wave 1")
    expect(after.locator(".task strong")).to_have_text(["Login form"])
    expect(after).to_contain_text("Waits for: Create auth routes")
    expect(board).to_contain_text("wave 0: 50 %")
    expect(board).to_contain_text("wave 1: 0 %")
    board.get_by_text("1 finished task").click()
    done = board.locator(".finished .task", has_text="Create User model")
    expect(done).to_contain_text("backend-laravel")
    expect(done).to_contain_text("The model is there")


def test_messages_say_from_whom_to_whom_and_who_has_read_them(window: Window, scene: Scene) -> None:
    page = window.open(f"#/messages/{scene.project()}")
    letter = page.locator(".letter", has_text="API contract")
    expect(letter).to_contain_text("agent-1 to every reviewer")
    expect(letter.locator("dd").first).to_have_text("/login")
    letter.get_by_text("Read by").click()
    expect(letter.locator(".readers")).to_contain_text("rev-7 received it")
    urgent = page.locator(".letter", has_text="Deploy stopped")
    expect(urgent).to_contain_text("urgent")
    urgent.get_by_text("Read by").click()
    expect(urgent.locator(".readers")).to_contain_text("Nobody yet")


def test_search_finds_leads_on_and_comes_back(window: Window, scene: Scene) -> None:
    page = window.open()
    page.get_by_role("searchbox", name="Search all history").fill("walrus port")
    page.keyboard.press("Enter")
    hit = page.locator(".hit").first
    expect(hit).to_contain_text("please use the walrus port")
    expect(hit.locator("mark")).to_have_text(["walrus", "port"])
    assert page.url.endswith("#/search?q=walrus+port")
    hit.get_by_role("link").click()
    expect(page.get_by_role("heading", level=2, name="Context over time")).to_be_visible()
    page.go_back()
    expect(page.locator(".hit").first).to_contain_text("walrus")
    page.get_by_label("Kind").select_option("rule")
    expect(page.get_by_text("No results.")).to_be_visible()


def test_a_file_found_by_what_it_holds_is_named(window: Window, scene: Scene) -> None:
    page = window.open("#/search?q=default_factory&kind=file")
    expect(page.locator(".hit p code").first).to_contain_text("cart.py")


def test_a_session_with_very_many_facts_shows_some_and_the_rest_on_demand(
    window: Window, scene: Scene
) -> None:
    page = window.open(f"#/sessions/{scene.many}")
    facts = page.locator(".facts > .fact")
    expect(facts).to_have_count(40)
    assert page.evaluate("document.querySelectorAll('*').length") < 1000
    page.get_by_role("button", name=f"Show 40 of {MANY - 40:,} more facts").click()
    expect(facts).to_have_count(80)
    page.get_by_label("Filter by text").fill(f"{MANY - 1:040x}")
    expect(facts).to_have_count(1)
    page.get_by_label("Filter by text").fill("nothing like it")
    expect(page.get_by_text("No matching facts.")).to_be_visible()


def test_where_there_is_nothing_the_page_says_what_to_do(window: Window, scene: Scene) -> None:
    page = window.open(f"#/sessions/{scene.many}")
    expect(page.get_by_text("No compactions yet.")).to_be_visible()
    expect(page.get_by_text("No context usage recorded yet.")).to_be_visible()
    window.open("#/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    page.get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What compaction cost you")


def test_what_the_agent_would_be_given_is_asked_for_when_it_is_wanted(
    window: Window, scene: Scene
) -> None:
    page = window.open(f"#/sessions/{scene.auth}")
    assert not any("/brief" in asked for asked in window.asked)
    page.get_by_text("What the agent would be given now").click()
    expect(page.locator("details[data-key=brief] .quoted")).to_contain_text("Create auth routes")


def test_what_the_summary_says_wrongly_is_named_with_its_row(window: Window, scene: Scene) -> None:
    wrong = {
        "kind": "check",
        "said": "All <b>tests</b> pass.",
        "known": "the last run failed: `pytest`",
        "fact": "v1",
        "row": "c0ffee00-1234",
    }
    window.page.route(
        "**/compactions/0*",
        lambda route: route.fulfill(
            json=route.fetch().json() | {"contradictions": [wrong]},
        ),
    )
    page = window.open(f"#/sessions/{scene.sample}/compactions/0")
    told = page.get_by_role("region", name="Contradictions")
    expect(told).to_contain_text("“All <b>tests</b> pass.”")
    expect(told).to_contain_text("the last run failed: `pytest` · v1 · row c0ffee00")
