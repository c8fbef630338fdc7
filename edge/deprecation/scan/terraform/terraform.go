// Package terraform reads Terraform: plans and states as JSON ([Plan]), and
// configurations ([Config], [ConfigJSON]). Resources of the vendor's provider that
// stand for calls of its API become these calls (provider.go); what else the
// documents hold, secrets among it, is passed over.
//
// In comes text, out go calls (package call). Of the other readers shell is imported,
// for the commands of provisioners, and document, for blocks that describe a request.
package terraform
