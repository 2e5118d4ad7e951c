"""Our own settings, as the doctor sees them."""

from holdfast.doctor.checks import check_settings
from holdfast.doctor.environment import OK, WARN

from .world import World


def test_nothing_chosen_is_well(world: World) -> None:
    (found,) = check_settings(world.around)
    assert (found.level, found.message[:5]) == (OK, "0 of ")


def test_what_is_wrong_is_named_with_its_place(world: World) -> None:
    path = world.home / ".config/holdfast/settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"brief_chars": 5, "nonsense": 1}')
    around = world.around._replace(environ={**world.around.environ, "HOME": str(world.home)})
    (found,) = check_settings(around)
    assert found.level == WARN
    assert "brief_chars must be a whole number" in found.message
    assert "nonsense" in found.details[0]
