# A thin front for Meson. `make run` and `make test` install what they need, build, and say what they do.
PYTHON  ?= /usr/bin/python3
PREFIX  ?= /usr/local
SECONDS_OF_SOAK ?= 600

.PHONY: all run test check soak bench lint install clean

all: build/build.ninja
	@ninja -C build
	@ln -sf src/app/impound build/impound

build/build.ninja:
	@tools/install.sh build
	@meson setup build

run:
	@tools/install.sh build
	@$(MAKE) --no-print-directory all
	@tools/run.sh

test:
	@tools/install.sh test
	@tools/test.sh all

check:
	@tools/install.sh test
	@tools/test.sh check

soak:
	@tools/install.sh soak
	@SECONDS_OF_SOAK=$(SECONDS_OF_SOAK) tools/soak.sh

bench: all
	@tools/install.sh test
	@$(PYTHON) bench/run.py

lint:
	@tools/install.sh lint
	@tools/lint.sh

install:
	@tools/install.sh build
	@meson setup build-install --prefix $(PREFIX) --buildtype release >/dev/null 2>&1 || true
	@meson install -C build-install

clean:
	@rm -rf build build-*
