"""Serve trained runs, or their exports: a page to try them, and a REST interface like LibreTranslate's.

    zsnmt serve RUN
    zsnmt serve RUN OTHER_RUN/ctranslate2-int8 --port 8080 --keys FILE --rate 60
    zsnmt serve RUN OTHER_RUN --ways ensemble mask
    zsnmt serve RUN --way mask:renormalise=yes    # by default, which is faster

Clients that do not name a system are served by the first one. See docs/serving.md.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path

from zsnmt import console
from zsnmt.decoding.options import add_engine_options, add_search_options, chosen_search, engine_choice
from zsnmt.errors import InputError
from zsnmt.processes import share_kernels
from zsnmt.serving.limits import Limits

# Those of setup.py's extra [serve].
PACKAGES = ("babel", "fastapi", "prometheus_client", "python_multipart", "sentencex", "uvicorn")
HOST, PORT = "127.0.0.1", 5000


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt serve", description=__doc__)
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="run folder, or an export by zsnmt export"
    )
    parser.add_argument("--host", default=HOST, help="address to serve at; 0.0.0.0 for all of this machine")
    parser.add_argument("--port", type=int, default=PORT, help="its port; 0 for any that is free")
    parser.add_argument(
        "--keys",
        type=Path,
        metavar="FILE",
        help="file of API keys, one per line; a client must send one of them",
    )
    parser.add_argument(
        "--origins",
        type=site,
        nargs="+",
        action="extend",
        default=[],
        metavar="URL",
        help="other sites whose pages may ask; '*' for all",
    )
    parser.add_argument(
        "--prefix",
        default="",
        metavar="PATH",
        help="path of the server on a web server in front of it, such as /mt, which that one takes off",
    )
    parser.add_argument(
        "--ways",
        nargs="+",
        action="extend",
        default=[],
        metavar="WAY",
        help="translate by these methods, too: ensemble, mask, contrast, with settings as in mask:pieces=2 "
        "(docs/method.md)",
    )
    parser.add_argument(
        "--way",
        action=console.Once,
        metavar="WAY",
        help="translate by this method, such as mask:renormalise=yes, what a request names no method for; "
        "'direct' in a request is without one",
    )
    parser.add_argument(
        "--via",
        metavar="LANGUAGE",
        help="translate through this language, such as en, what a system was not trained on, unless a "
        "request names another language or a method (default: directly)",
    )
    console.add_fields(parser, Limits)
    add_search_options(parser)
    add_engine_options(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser().parse_args(arguments)
    search, choice = chosen_search(options), engine_choice(options)
    limits = Limits(**{each.name: getattr(options, each.name) for each in fields(Limits)})
    try:
        for package in PACKAGES:
            import_module(package)
    except ImportError as error:
        raise InputError(f"a server needs {error.name}; install it with pip install 'zsnmt[serve]'") from None
    share_kernels(os.environ)
    from zsnmt.serving.access import read_keys
    from zsnmt.serving.application import application
    from zsnmt.serving.server import bind, serve
    from zsnmt.serving.systems import open_systems

    keys = read_keys(options.keys) if options.keys else []
    with bind(options.host, options.port) as listener:
        systems = open_systems(
            options.runs, search, choice, ways=options.ways, way=options.way, via=options.via
        )
        app = application(systems, limits, keys, origins=options.origins)
        serve(app, listener, seconds=limits.seconds, names=[*systems], prefix=path_of(options.prefix))


def path_of(prefix: str) -> str:
    """A prefix as it stands before other paths: with a slash before it and none behind."""
    inner = prefix.strip("/")
    return f"/{inner}" if inner else ""


def site(word: str) -> str:
    """An option's site, as a browser names it; refused where no browser would name one so."""
    origin = word.lower().rstrip("/")
    scheme, slashes, host = origin.partition("://")
    if origin not in ("*", "null") and not (scheme and slashes and host and "/" not in host):
        raise argparse.ArgumentTypeError(f"'{word}' is not a site; write one as https://example.org")
    return origin
