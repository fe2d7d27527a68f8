#!/usr/bin/env bash
# check_zoo.sh for the seeds.
exec bash "$SOURCE_DIR/tests/ci/check_zoo.sh" seeds
