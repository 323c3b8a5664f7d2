package config

import (
	"slices"
	"strings"
)

// TenantSchedules returns the schedules of P8_DREAM_TENANTS by tenant; "" for a tenant
// without scheduled dreams.
func (c *Config) TenantSchedules() map[string]string {
	schedules, _ := parseTenants(c.DreamTenants)
	return schedules
}

// parseTenants parses "acme=0 4 * * *;beta=off"; ok is false for anything else.
func parseTenants(text string) (schedules map[string]string, ok bool) {
	schedules = map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		// A schedule may have an equals sign too: CRON_TZ=Europe/Vienna 0 3 * * *.
		tenant, schedule, found := strings.Cut(part, "=")
		tenant, schedule = strings.TrimSpace(tenant), strings.TrimSpace(schedule)
		if _, twice := schedules[tenant]; !found || tenant == "" || schedule == "" || twice {
			return nil, false
		}
		if schedule == "off" {
			schedule = ""
		}
		schedules[tenant] = schedule
	}
	return schedules, true
}

// Encrypts reports whether P8_ENCRYPT_TENANTS names a tenant.
func (c *Config) Encrypts(tenant string) bool {
	return slices.Contains(c.EncryptTenants, "*") || slices.Contains(c.EncryptTenants, tenant)
}
