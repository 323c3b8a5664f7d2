package operate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/store/postgres"
)

// security prints what is weak in the settings and in the permissions of the files that p8
// reads. It reads no file and no database.
func (c *Doctor) security(a *command.App, cfg *config.Config) error {
	callers := postgres.Finding{Name: "callers", OK: true, Detail: "programs of this machine only, each as any user that it names"}
	switch {
	case cfg.Authenticates() && cfg.AuthAnonymous:
		callers.Detail = "those with a token or a key, and anybody else as a visitor"
	case cfg.Authenticates():
		callers.Detail = "those with a token or a key"
	case !outbound.IsLoopback(cfg.Host):
		callers = postgres.Finding{Name: "P8_HOST", Detail: "nothing verifies who calls, so p8 serve refuses this address", Mend: "set P8_AUTH_KEYS, P8_AUTH_JWKS_URL, P8_AUTH_JWT_SECRET or P8_API_KEY, or P8_HOST=127.0.0.1"}
	}
	findings := []postgres.Finding{callers}
	for _, w := range cfg.Weaknesses() {
		findings = append(findings, postgres.Finding{Name: w.Name, Detail: w.Problem, Mend: w.Mend})
	}
	findings = append(findings, exposed(cfg)...)
	if os.Geteuid() == 0 {
		findings = append(findings, postgres.Finding{Name: "user", Detail: "p8 runs as root, and so do the MCP servers that it starts", Mend: "run it as a user of its own"})
	}
	if len(findings) == 1 && callers.OK {
		findings = append(findings, postgres.Finding{Name: "settings and files", OK: true, Detail: "nothing weak was found"})
	}
	findings = append(findings, encryption(cfg))
	bad, err := c.print(a, "security", "WEAK   ", findings)
	if bad > 0 {
		return fmt.Errorf("%s: the lines above say what to do", show.Count(bad, "weak point"))
	}
	return err
}

// encryption says whose texts are encrypted in the database.
func encryption(cfg *config.Config) postgres.Finding {
	f := postgres.Finding{Name: "encryption", OK: true, Detail: "no tenant's texts are encrypted in the database; P8_ENCRYPT_TENANTS names tenants"}
	switch {
	case slices.Contains(cfg.EncryptTenants, "*"):
		f.Detail = "the texts of all tenants are encrypted in the database"
	case len(cfg.EncryptTenants) > 0:
		f.Detail = "the texts of these tenants are encrypted in the database: " + strings.Join(cfg.EncryptTenants, ", ")
	}
	return f
}

// exposed returns the files that other users of the machine can read or change and should
// not.
func exposed(cfg *config.Config) []postgres.Finding {
	if runtime.GOOS == "windows" {
		return nil // permissions are not in the mode there
	}
	const read, write fs.FileMode = 0o044, 0o022
	type file struct {
		path, what string
		not        fs.FileMode
	}
	files := []file{
		{".env", "keys and passwords", read | write},
		{cfg.MCPConfig, "the commands of MCP servers", write},
		{cfg.SchemaDir, "the prompts and tools of agents", write},
		{cfg.ModelsFile, "the models", write},
		{cfg.TLSClientCA, "which gateways are trusted", write},
		{cfg.TLSCert, "the certificate of the server", write},
		{cfg.TLSKey, "the private key of the server's certificate", read | write},
	}
	for _, path := range cfg.SecretFiles() {
		files = append(files, file{path, "a secret", read | write})
	}
	if path := cfg.Database().Path; path != "" {
		files = append(files, file{filepath.Dir(path), "everything that p8 stores", read | write})
	}
	var findings []postgres.Finding
	for _, f := range files {
		if f.path == "" {
			continue
		}
		info, err := os.Stat(f.path)
		if err != nil || info.Mode()&f.not == 0 {
			continue
		}
		verb, mode := "change", "go-w"
		if info.Mode()&f.not&read != 0 {
			verb, mode = "read", "go-rwx"
		}
		findings = append(findings, postgres.Finding{Name: f.path, Detail: "other users of this machine can " + verb + " " + f.what, Mend: "chmod " + mode + " " + f.path})
	}
	return findings
}
