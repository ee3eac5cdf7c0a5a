# Two commands matter: `make demo` and `make test`. Each sets up what it needs. `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help diagram demo test lint unit bench soak hil schemas setup setup-test install uninstall clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
PIP := $(BIN)/pip --disable-pip-version-check --quiet

help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@.ci/system-packages venv=python3-venv
	@echo "==> creating the virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "==> installing the program and its pinned dependencies"
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(DEV_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@.ci/lgpio-tools $(BIN)/python
	@echo "==> installing the program with its test tools, pinned"
	@PYPI=1 $(PIP) install --constraint constraints.txt --editable '.[gpio,metrics,test]'
	@touch $@ $(RUN_STAMP)

setup: $(RUN_STAMP)

setup-test: $(DEV_STAMP)
	@.ci/system-packages mosquitto=mosquitto mosquitto_sub=mosquitto-clients nats-server=nats-server chromium=chromium \
	  gcc=gcc g++=g++ /usr/include/string.h=libc6-dev /usr/include/sqlite3.h=libsqlite3-dev systemd-analyze=systemd libusb-1.0.so.0=libusb-1.0-0 zsh=zsh fish=fish groff=groff-base openssl=openssl \
	  /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc=fonts-noto-cjk

demo: setup ## Play a table on this machine: simulated shoe and dealer, real journal, display page
	@$(BIN)/shoe-controller demo $(DEMO)

lint: $(DEV_STAMP) ## Formatting, lint, types and import rules
	@echo "==> ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> mypy --strict"
	@$(BIN)/mypy
	@echo "==> import rules"
	@$(BIN)/lint-imports --no-logo

unit: setup-test
	@echo "==> tests with branch coverage"
	@$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered $(TESTS)

test: setup-test lint unit ## Everything that must pass before a change lands

bench: setup-test ## Speed against floors measured in the same run
	@$(BIN)/python -m tests.bench

soak: setup-test ## Long campaigns: faults, crashes, fuzzing
	@$(BIN)/python -m tests.soak

hil: $(DEV_STAMP) ## Check a wired and configured table with a person in front of it
	@$(BIN)/python -m tests.hil $(HIL)

diagram: $(RUN_STAMP) ## Draw the state machine anew into docs
	@$(BIN)/python -m shoe_controller.machine.diagram > docs/state-machine.md

schemas: $(RUN_STAMP) ## Make the feeds' JSON Schemas and AsyncAPI document anew into docs
	@$(BIN)/python -m shoe_controller.schemas

install: ## Set up this machine as a table's controller (sudo make install; DESTDIR=... for an image)
	@systemd/install.sh $(if $(DESTDIR),--root "$(DESTDIR)") $(INSTALL)

uninstall: ## Take the controller off this machine; journal and configuration stay (sudo make uninstall)
	@systemd/uninstall.sh $(if $(DESTDIR),--root "$(DESTDIR)")

clean: ## Remove what make created here
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
