package guard_test

import (
	"testing"

	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// policy and guard import nothing of the link's; what crosses it must still be the same words.
func TestWordsAreTheProtocols(t *testing.T) {
	same := [][2]string{
		{string(guard.Continue), string(protocol.VerdictContinue)},
		{string(guard.Refuse), string(protocol.VerdictRefuse)},
		{string(guard.Fail), string(protocol.VerdictFail)},
		{string(policy.Once), string(protocol.ChoiceOnce)},
		{string(policy.TenMinutes), string(protocol.ChoiceTenMinutes)},
		{string(policy.WhileShared), string(protocol.ChoiceWhileShared)},
		{string(policy.No), string(protocol.ChoiceNo)},
		{string(policy.Navigate), string(protocol.PromptNavigate)},
		{string(policy.Submit), string(protocol.PromptSubmit)},
		{string(policy.Read), string(protocol.PromptRead)},
		{string(policy.Upload), string(protocol.PromptUpload)},
		{string(policy.Download), string(protocol.PromptDownload)},
		{string(policy.Publish), string(protocol.PromptPublish)},
		{string(policy.Script), string(protocol.PromptScript)},
		{string(policy.AccessRead), string(protocol.AccessRead)},
		{string(policy.AccessAct), string(protocol.AccessAct)},
		{string(policy.AccessSubmit), string(protocol.AccessSubmit)},
	}
	for _, word := range same {
		if word[0] != word[1] {
			t.Errorf("%q is %q in the protocol", word[0], word[1])
		}
	}
	for _, code := range []policy.Code{
		policy.BadArgument, policy.SchemeRefused, policy.BlockedByPolicy, policy.ReadOnly, policy.NotSharedSite, policy.WouldSubmit, policy.ApprovalPending,
		policy.AllowedRepeatNeeded, policy.NavigationEscaped, policy.OwnerHasControl, policy.InvalidTransition, policy.PageClosed,
	} {
		if protocol.Lookup(protocol.Code(code)).Meaning == "" {
			t.Errorf("the protocol does not know the code %s", code)
		}
	}
}
