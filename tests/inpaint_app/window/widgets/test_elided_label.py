"""A line that says less where there is less room."""

from inpaint_app.window.widgets.labels import ElidedLabel

FORMS = ("PSNR 31.2 dB (missing pixels 28.1 dB)", "PSNR 31.2 dB", "31.2 dB")


def test_the_longest_text_that_has_room_is_shown(qtbot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.set_text(*FORMS)
    width = label.fontMetrics().horizontalAdvance
    for form in FORMS:
        assert label.fitting_text(width(form)) == form
    assert label.fitting_text(width(FORMS[-1]) - 1).endswith("…")
    assert label.text() == label.accessibleName() == FORMS[0]
