package main

import (
	"os"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m, nil)) }
