package outage

import "github.com/seawall-dev/seawall/reconcile"

// fix is what a person can do about an outage, as its error says, or else by its cause;
// empty where the cause says it.
func fix(o reconcile.Outage, c cause) string {
	switch {
	case c.text == diskFull && c.fix == "":
		return "free space on the disk that holds the state folder"
	case c.text == "the file of the ledger is gone":
		return "nothing is written to the platform: move the file back, or restore a backup; a restart begins with an empty ledger"
	case c.fix != "":
		return c.fix
	case c.class == rejected:
		return "set " + credentialOf(o) + " to a token that the platform accepts; a file is read again at the next try, an environment variable only at a restart"
	case c.class == denied:
		return "give " + credentialOf(o) + " the permissions that seawall doctor names"
	case c.throttled:
		return "Seawall waits as the platform asks; if it lasts, lower budget in the configuration, or find what else uses the same credential"
	case o.Subject == reconcile.OutageState:
		return "check the disk and the permissions of the state folder"
	case c.answered && c.class == unanswered:
		return "the fault is the platform's: see its status page; Seawall tries again by itself"
	case c.class == unanswered && (o.Subject == reconcile.OutagePlatform || o.Subject == reconcile.OutageZone || o.Subject == reconcile.OutageAccount):
		return "check the network and platform.base_url, then the status page of the platform; Seawall tries again by itself"
	}
	return ""
}

// credentialOf names the credential of an outage.
func credentialOf(o reconcile.Outage) string {
	if o.Subject == reconcile.OutageCredential {
		return o.Name
	}
	return "the credential for rulesets"
}
