# SPDX-License-Identifier: GPL-3.0-or-later
# How Hone is built, tested and checked. `make help` lists the targets; every .c file is found by wildcard.

# ---- what can be chosen --------------------------------------------------------------------------------------
ifeq ($(origin CC),default)
CC := gcc
endif
ARCH     ?= native
OPT      ?= $(if $(SAN),-O1,-O3)
SAN      ?=
WERROR   ?= 0
DEBUG    ?= 0
TUNE     ?= 1
LTO      ?= $(if $(SAN)$(filter 1,$(DEBUG)),0,1)
DEPS     ?= $(if $(EXE),0,1)
EVALFILE ?= $(firstword $(wildcard engine/net/*.nnue))
UNITY_DIR ?= build/unity/src
TRAINFLAGS ?= -O3 -ffast-math -ffp-contract=fast
TSAN_TESTS ?= test_util test_tt test_search test_nnue test_engine test_uci test_storm test_match test_player test_heartbeat test_mcts
SAN_DEPTH ?= 6
export CC

# ---- what the compiler and the machine offer -----------------------------------------------------------------
ARCHFLAGS := $(if $(filter generic,$(ARCH)),,-march=$(ARCH))
MACROS    := $(shell $(CC) $(ARCHFLAGS) -dM -E -x c /dev/null 2>/dev/null | grep -oE '__(BMI2|x86_64|clang)__')
CLANG     := $(filter __clang__,$(MACROS))
# AMD before Zen 3 has PEXT in microcode, slower than the fallback.
SLOW_PEXT := $(if $(filter native,$(ARCH)),$(shell awk -F': *' '/^vendor_id/ {amd = $$2 ~ /AMD|Hygon/} \
               /^cpu family/ {if (amd && $$2 < 25) print "slow"; exit}' /proc/cpuinfo 2>/dev/null))
PEXT      := $(if $(filter __BMI2__,$(MACROS)),$(if $(SLOW_PEXT),,-DHONE_PEXT))
lto_works  = $(shell echo 'int main(void){return 0;}' | $(CC) $(1) -x c - -o /dev/null 2>/dev/null && echo '$(1)')
LTOFLAGS  := $(if $(filter 1,$(LTO)),$(if $(CLANG),$(or $(call lto_works,-flto -fuse-ld=lld),$(call \
               lto_works,-flto)),$(call lto_works,-flto=auto -fno-fat-lto-objects)))

# ---- flags ---------------------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wconversion -Wno-sign-conversion \
            -Wvla $(if $(filter 1,$(WERROR)),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
COMMON   := -std=gnu11 -I. -pthread $(WARNINGS) $(ARCHFLAGS) $(PEXT) $(SANFLAGS) -fno-math-errno -ffp-contract=off \
            $(if $(filter 0,$(TUNE)),-DHONE_TUNE=0) $(if $(EXE),-DHONE_BARE) $(EXTRA_CFLAGS)
RELEASE   = $(COMMON) $(OPT) $(filter-out -fuse-ld=%,$(LTOFLAGS)) $(PGOFLAGS) $(if $(filter 1,$(DEBUG)),-g -DHONE_DEBUG,-DNDEBUG) $(if $(SAN),-g)
TESTING  := $(COMMON) $(if $(SAN),-O1,-O2) -g -DHONE_DEBUG
# A failing Unity assert does not return, which clang does not know.
UNITYFLAGS := -isystem $(UNITY_DIR) -DUNITY_INCLUDE_DOUBLE= $(if $(CLANG),-Wno-sometimes-uninitialized -Wno-string-concatenation \
                -Wno-format-zero-length)
LIBS     := $(if $(EXE),,-Wl,--as-needed -lfathom -lgsl -lgslcblas -lcjson) -lm

# One folder of objects for each set of flags, so that builds never mix.
comma    := ,
tag       = $(shell printf '%s' '$(CC) $(1) $(EVALFILE) $(TRAINFLAGS)' | cksum | cut -c1-6)
NAME     := $(notdir $(firstword $(CC)))-$(ARCH)$(if $(SAN),-$(firstword $(subst $(comma), ,$(SAN))))$(if $(PGO),-pgo)
BUILD    := build/$(NAME)-$(call tag,$(COMMON) $(OPT) $(LTOFLAGS) $(DEBUG))
TBUILD   := build/$(NAME)-test-$(call tag,$(TESTING))

# `make pgo` compiles twice in the same folder: gcc looks for the profile beside the object.
PROFDATA := $(if $(CLANG),$(shell command -v llvm-profdata llvm-profdata-$$($(CC) -dumpversion | cut -d. -f1) | head -1))
ifeq ($(PGO),generate)
PGOFLAGS := $(if $(CLANG),-fprofile-instr-generate,-fprofile-generate -fprofile-update=prefer-atomic)
else ifeq ($(PGO),use)
PGOFLAGS := $(if $(CLANG),-fprofile-instr-use=$(BUILD)/hone.profdata -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date,-fprofile-use \
              -fprofile-partial-training -Wno-missing-profile)
endif

# ---- sources -------------------------------------------------------------------------------------------------
LAYERS   := engine openings match tuner
sources   = $(filter-out $(1)/main.c,$(wildcard $(1)/*.c $(1)/*.S))
objects   = $(addsuffix .o,$(basename $(foreach layer,$(1),$(call sources,$(layer)))))
ENGINE   := $(call objects,engine)
BOOK     := $(ENGINE) $(call objects,openings)
MATCH    := $(BOOK) $(call objects,match)
TUNER    := $(MATCH) $(call objects,tuner)
PROGRAMS := hone hone-match hone-tune hone-book
SUITES   := $(patsubst tests/%.c,%,$(wildcard tests/test_*.c))
SCRIPTS  := $(wildcard tests/test_*.sh)
LONG     := $(wildcard tests/long_*.sh)
HELPERS  := $(patsubst tests/%.c,%,$(wildcard tests/engine_*.c))
TESTBINS := $(addprefix $(TBUILD)/tests/,$(SUITES) $(HELPERS))
SHARED   := $(patsubst %.c,$(TBUILD)/%.o,$(filter-out tests/test_%.c tests/engine_%.c tests/fuzz_%.c,$(wildcard tests/*.c)))
SOURCES  := $(foreach layer,$(LAYERS),$(wildcard $(layer)/*.c))

# ---- programs ------------------------------------------------------------------------------------------------
.PHONY: all net tune test check-long bench pgo lint san help clean deps suites profile FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(or $(EXE),$(PROGRAMS)) ## the four programs (default); installs what is missing unless DEPS=0

ifdef EXE
$(EXE): $(BUILD)/hone FORCE
	@cmp -s $< $@ || install -m 755 $< $@
else
$(PROGRAMS): %: $(BUILD)/% FORCE
	@cmp -s $< $@ || install -m 755 $< $@
endif

$(BUILD)/hone:       $(addprefix $(BUILD)/,engine/main.o $(ENGINE))
$(BUILD)/hone-book:  $(addprefix $(BUILD)/,openings/main.o $(BOOK))
$(BUILD)/hone-match: $(addprefix $(BUILD)/,match/main.o $(MATCH))
$(BUILD)/hone-tune:  $(addprefix $(BUILD)/,tuner/main.o $(TUNER))
$(addprefix $(BUILD)/,$(PROGRAMS)):
	@echo "  link  $(@F)"
	@$(CC) $(RELEASE) $(LTOFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c | deps
	@echo "  cc    $<"
	@mkdir -p $(@D)
	@$(CC) $(RELEASE) $(FILEFLAGS) -MMD -MP -c $< -o $@

$(TBUILD)/%.o: %.c | deps
	@echo "  cc    $< (test)"
	@mkdir -p $(@D)
	@$(CC) $(TESTING) $(FILEFLAGS) $(if $(filter tests/%,$<),$(UNITYFLAGS)) -MMD -MP -c $< -o $@

# Two rules: one pattern rule with two targets would make both at once, so the second would be missing.
$(BUILD)/%.o: %.S | deps
	@mkdir -p $(@D)
	@$(CC) -I. $(FILEFLAGS) -MMD -MP -c $< -o $@

$(TBUILD)/%.o: %.S | deps
	@mkdir -p $(@D)
	@$(CC) -I. $(FILEFLAGS) -MMD -MP -c $< -o $@

# Files with flags of their own: vector code chosen at run time, the trainer's loops, the embedded net.
ifneq ($(filter __x86_64__,$(MACROS)),)
%_scalar.o: FILEFLAGS := -fno-tree-vectorize -fno-tree-slp-vectorize
%_sse41.o:  FILEFLAGS := -O3 -march=x86-64 -msse4.1
%_avx2.o:   FILEFLAGS := -O3 -march=x86-64-v3
%_avx512.o: FILEFLAGS := -march=x86-64-v4
endif
$(BUILD)/tuner/train%.o $(TBUILD)/tuner/train%.o: FILEFLAGS := $(TRAINFLAGS)
ifneq ($(EVALFILE),)
$(BUILD)/engine/nnue_data.o $(TBUILD)/engine/nnue_data.o: FILEFLAGS := -DEVALFILE='"$(EVALFILE)"'
$(BUILD)/engine/nnue_data.o $(TBUILD)/engine/nnue_data.o: $(EVALFILE)
endif

deps:
ifneq ($(DEPS),0)
	@scripts/deps
endif

# ---- tests ---------------------------------------------------------------------------------------------------
test: all suites ## every test that fits in three minutes; ends with `N passed, M failed`
	@HONE_BIN='$(CURDIR)' scripts/test_run $(addprefix $(TBUILD)/tests/,$(SUITES)) $(SCRIPTS)

check-long: all suites ## the tests that take longer
	@HONE_BIN='$(CURDIR)' HONE_LONG=1 scripts/test_run $(addprefix $(TBUILD)/tests/,$(SUITES)) $(SCRIPTS) \
	   $(LONG)

suites: $(TESTBINS)

$(TBUILD)/libhone.a: $(addprefix $(TBUILD)/,$(TUNER))
$(TBUILD)/libtests.a: $(SHARED)
$(TBUILD)/libhone.a $(TBUILD)/libtests.a:
	@mkdir -p $(@D) && rm -f $@ && ar rcs $@ $^

$(addprefix $(TBUILD)/tests/,$(SUITES)): %: %.o $(TBUILD)/libtests.a $(TBUILD)/unity.o $(TBUILD)/libhone.a
	@$(CC) $(TESTING) -o $@ $^ $(LIBS)

$(addprefix $(TBUILD)/tests/,$(HELPERS)): %: %.o $(TBUILD)/libhone.a
	@$(CC) $(TESTING) -o $@ $^ $(LIBS)

$(patsubst tests/%.c,$(TBUILD)/tests/%.o,$(wildcard tests/*.c)): | $(UNITY_DIR)/unity.h

$(TBUILD)/unity.o: $(UNITY_DIR)/unity.h
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 $(SANFLAGS) -O1 -g -DUNITY_INCLUDE_DOUBLE= -DUNITY_USE_FLUSH_STDOUT -c $(UNITY_DIR)/unity.c -o $@

$(UNITY_DIR)/unity.h:
	@scripts/deps --unity $(UNITY_DIR)

# ---- measuring and checking ----------------------------------------------------------------------------------
lint: suites ## static checks: clang-tidy, layers, globals, licences, header comments
	@failed=0; for check in check_spdx check_layers check_header_comments \
	   "check_globals $(addprefix $(TBUILD)/,$(TUNER))"; do scripts/$$check || failed=1; done; \
	 printf '%s\n' $(SOURCES) | xargs -P $$(nproc) -n 1 scripts/tidy $(COMMON) || failed=1; \
	 [ $$failed = 0 ] && echo "lint: clean"

san: ## the suites and a short bench under AddressSanitizer + UBSan, the threaded ones under ThreadSanitizer
	@TIMEOUT=$(or $(TIMEOUT),900) $(MAKE) --no-print-directory test SAN=address,undefined
	@$(if $(wildcard tests/bench.expected),scripts/bench_check ./hone $(SAN_DEPTH),echo "san: no tests/bench.expected yet")
	@TIMEOUT=$(or $(TIMEOUT),900) $(MAKE) --no-print-directory test SAN=thread SUITES='$(filter $(TSAN_TESTS),$(SUITES))' SCRIPTS=

pgo: ## the programs again, with the compiler told by `hone bench` which code is hot
	@$(MAKE) --no-print-directory PGO=generate profile
	@$(MAKE) --no-print-directory PGO=use all

profile: $(BUILD)/hone
	@echo "  run   hone bench (instrumented)"
	@cd $(BUILD) && LLVM_PROFILE_FILE=hone.profraw ./hone bench >/dev/null
	@$(if $(CLANG),$(PROFDATA) merge -o $(BUILD)/hone.profdata $(BUILD)/hone.profraw)
	@find $(BUILD) -name '*.o' -delete && rm $(BUILD)/hone

net: all ## the net's chain from nothing in small: games, training, games, training, matches; some minutes
	@scripts/net

tune: all ## the quick campaign: tunes six parameters and tests them, about ten minutes; run again, it goes on
	@./hone-tune run tuner/campaigns/quick.json

bench: hone ## the signature: `<nodes> nodes <nps> nps`
	@./hone bench

clean: ## removes what was built (the downloaded Unity stays)
	@rm -f $(PROGRAMS)
	@find build -mindepth 1 -maxdepth 1 ! -name unity -exec rm -rf {} + 2>/dev/null || true

help: ## this list
	@echo "make [target] [CC=gcc|clang] [ARCH=native|x86-64-v3|x86-64-v2|generic] [OPT=-O3] [SAN=address,undefined|thread]"
	@echo "     [WERROR=1] [DEBUG=1] [TUNE=0] [LTO=0] [DEPS=0] [UNITY_DIR=dir]"
	@echo "make EXE=name [CC=..] [EVALFILE=..]   the engine alone: needs only libm and pthreads, installs nothing"
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' Makefile

-include $(shell find $(BUILD) $(TBUILD) -name '*.d' 2>/dev/null)
