# A thin front for Meson. `make run` and `make test` install what they need, build, and say what they do.
PYTHON  ?= /usr/bin/python3
PREFIX  ?= /usr/local
SECONDS_OF_SOAK ?= 600

.PHONY: all run test check soak bench pictures lint install clean

all: build/build.ninja
	@echo "impound: building build/impound (the first time some minutes)"
	@tools/ninja.sh build src/app/impound
	@ln -sf src/app/impound build/impound

build/build.ninja:
	@tools/install.sh build
	@echo "impound: looking for compiler and libraries, setting up build/"
	@meson setup build >build.log 2>&1 || { cat build.log; rm -rf build build.log; exit 1; }
	@rm -f build.log

run:
	@tools/install.sh build
	@$(MAKE) --no-print-directory all
	@$(PYTHON) tools/foreground.py tools/run.sh

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
	@ninja -C build --quiet bench/broker bench/sink bench/callback bench/jq bench/store bench/stream_worker
	@$(PYTHON) bench/run.py

pictures:
	@tools/install.sh test
	@tools/pictures.sh

lint:
	@tools/install.sh lint
	@tools/lint.sh

install:
	@tools/install.sh build
	@test -f build-install/build.ninja || \
	    meson setup build-install --buildtype release -Dtests=false >/dev/null
	@meson configure build-install --prefix $(PREFIX) -Dwerror=false
	@ninja -C build-install --quiet >build-install/install.log || { cat build-install/install.log; exit 1; }
	@meson install -C build-install --no-rebuild --tags runtime,devel,man --quiet
	@echo "impound: installed below $(DESTDIR)$(PREFIX)"

clean:
	@rm -rf build build-*
