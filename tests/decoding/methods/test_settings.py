"""Methods as a person writes them."""

import pytest

from zsnmt.decoding.methods.kinds import Contrast, Ensemble, Sample
from zsnmt.decoding.methods.settings import Mask, Method, parse_method, spell_method
from zsnmt.errors import InputError
from zsnmt.languages import Direction

KNOWN = ["en", "de", "fr", "cs"]
DE_FR, DE_EN, EN_DE = Direction("de", "fr"), Direction("de", "en"), Direction("en", "de")


@pytest.mark.parametrize(
    "text, method",
    {
        "ensemble": Method(Ensemble()),
        "ensemble:through=en+fr,by=average": Method(Ensemble(("en", "fr"), "average")),
        "ensemble:pieces=3": Method(Ensemble(), Mask(3)),
        "contrast:source_weight=0": Method(Contrast(source_weight=0.0)),
        "contrast:languages=source,language_weight=0.5,penalty=2": Method(
            Contrast(("source",), 0.5), Mask(penalty=2.0)
        ),
        "mask": Method(mask=Mask()),
        "mask:pieces=5,penalty=1.5": Method(mask=Mask(5, 1.5)),
        "mask:renormalise=yes": Method(mask=Mask(renormalise=True)),
        "mask:renormalise=no": Method(mask=Mask()),
        "ensemble:renormalise=yes": Method(Ensemble(), Mask(renormalise=True)),
        "contrast:language_weight=0,renormalise=yes": Method(
            Contrast(language_weight=0.0), Mask(renormalise=True)
        ),
        "contrast:renormalise=no": Method(Contrast(), Mask()),
        "search:beam=1": Method(beam=1),
        "mask:beam=2": Method(mask=Mask(), beam=2),
        "ensemble:by=average,beam=2,pieces=3": Method(Ensemble(by="average"), Mask(3), beam=2),
        "sample:beam=1": Method(Sample(), beam=1),
    }.items(),
)
def test_a_method_is_read_with_its_settings(text, method):
    assert parse_method(text) == method and method.name == text.partition(":")[0]
    assert parse_method(spell_method(method)) == method


def test_a_method_is_spelt_without_what_its_kind_has_anyway():
    for text in ("ensemble", "ensemble:through=en+fr,beam=2", "search:beam=1", "mask:pieces=1,penalty=2.0"):
        assert spell_method(parse_method(text)) == text


def test_settings_are_all_that_tells_methods_of_a_kind_apart():
    assert parse_method("ensemble").of(KNOWN).settings == {"through": ("en",)}
    assert parse_method("ensemble:by=average").settings == {"through": ("pivot",), "by": "average"}
    assert parse_method("mask").settings == {"pieces": 1}
    assert parse_method("search:beam=1").settings == {"beam": 1}
    assert parse_method("mask:beam=1").settings == {"pieces": 1, "beam": 1}
    assert parse_method("contrast:pieces=2").of(KNOWN).settings == {
        "languages": ("en", "source"),
        "language_weight": 0.1,
        "source_weight": 0.7,
        "pieces": 2,
    }
    languages = parse_method("contrast:languages=source,source_weight=0")
    assert languages.settings == {"languages": ("source",), "language_weight": 0.1}
    assert parse_method("contrast:language_weight=0").settings == {"source_weight": 0.7}
    assert parse_method("ensemble:through=pivot").of(KNOWN) == parse_method("ensemble:through=en")


@pytest.mark.parametrize(
    "text, message",
    {
        "vote": "no way 'vote' to translate; choose ensemble, contrast, sample, mask, search",
        "direct": "no way 'direct'",
        "mask:keep=1": "'keep=1' is not a setting of mask; write mask:pieces=VALUE, with each of pieces, ",
        "mask:pieces": "'pieces' is not a setting",
        "mask:pieces=1,pieces=2": "'pieces=2' is not a setting of mask; .* once at most",
        "mask:through=en": "not a setting of mask",
        "contrast:by=vote": "not a setting of contrast",
        "search": "search needs a beam of its own, as in search:beam=1",
        "search:pieces=1": "'pieces=1' is not a setting of search; write search:beam=VALUE, with each of",
        "search:beam=0": "a beam of 0 keeps nothing; give 1 or more",
        "mask:beam=wide": "beam=wide is not a whole number",
        "mask:pieces=many": "pieces=many is not a whole number",
        "mask:pieces=0": "pieces=0 leaves out no piece; give 1 or more",
        "mask:penalty=-1": "penalty=-1.0 is not a penalty",
        "mask:renormalise=true": "renormalise=true is not yes or no",
        "mask:penalty=1,renormalise=yes": "with a penalty or prefer= nothing is forbidden",
        "mask:penalty=nan": "penalty=nan is not a penalty",
        "mask:penalty=inf": "leave it out, which forbids the pieces",
        "contrast:renormalise=yes": "among the target's pieces, .*; leave renormalise out",
        "contrast:languages=source,source_weight=0,renormalise=yes": "does not go with a contrast of lang",
        "ensemble:through=en+de+fr": "has more than 3 sources, .*; name at most 2 languages",
        "ensemble:through=en+en": "names a language twice",
        "ensemble:through=": "'' is not a language code",
        "ensemble:by=max": "no ensemble by 'max'; write by=vote or by=average",
        "contrast:language_weight=1": "language_weight=1.0 is not a weight; give a number from 0 to below 1",
        "contrast:language_weight=0,languages=de": "languages= has no effect with language_weight=0",
        "contrast:source_weight=nan": "source_weight=nan is not a weight",
        "contrast:source_weight=-0.1": "is not a weight",
    }.items(),
)
def test_what_is_none_is_refused_with_the_rule(text, message):
    with pytest.raises(InputError, match=message):
        parse_method(text)


def test_languages_that_a_model_does_not_know_are_refused():
    for text in ("ensemble:through=it", "contrast:languages=en+it", "ensemble:through=source"):
        with pytest.raises(InputError, match="unknown language '(it|source)': this model knows en, de, fr"):
            parse_method(text).of(KNOWN)


def test_an_ensemble_needs_a_language_between_and_leaves_out_the_two_of_a_direction():
    one, two = (parse_method(f"ensemble:through={each}") for each in ("en", "en+fr"))
    assert one.fault(DE_FR) is None and one.several.pivots(DE_FR) == ["en"]
    assert "from de into en: it goes through a language that is neither" in one.fault(DE_EN)
    assert "no second source from en into de" in one.fault(EN_DE)
    assert two.fault(DE_EN) is None and two.several.pivots(DE_EN) == ["fr"]
    assert two.several.pivots(Direction("cs", "de")) == ["en", "fr"]


def test_a_contrast_leaves_out_the_target_and_names_a_language_once():
    contrast = parse_method("contrast").of(KNOWN)
    assert contrast.several.contrasted(DE_FR) == ["en", "de"]
    assert contrast.several.contrasted(DE_EN) == ["de"] and contrast.several.contrasted(EN_DE) == ["en"]
    alone = parse_method("contrast:languages=en,source_weight=0").of(KNOWN)
    assert alone.fault(DE_FR) is None
    assert "a contrast of en with en is none: it needs a language that is not the target" in alone.fault(
        DE_EN
    )
    assert parse_method("contrast:languages=en").of(KNOWN).fault(DE_EN) is None  # of sources
    nothing = parse_method("contrast:language_weight=0,source_weight=0").of(KNOWN)
    assert "and a weight; name one with languages=, with a language_weight above 0" in nothing.fault(DE_FR)
