// Package guard judges what a leased tab loads and sends: every document request before it leaves, every commit after.
// (The manual follows.)
package guard
