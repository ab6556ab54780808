package fault

import "strings"

// squash folds the ways a code is written into one: "rate_limit_error", "RateLimitError" and "rate-limit-error" are the
// same. Bedrock puts a namespace before a type and an address after it, Python a package before a class; all of it goes.
// The problem types of the IETF draft keep theirs: a quota there is a rate limit.
func squash(code string) string {
	const problems = "http-problem-types#"
	if at := strings.Index(code, problems); at >= 0 {
		return "problem/" + squash(code[at+len(problems):])
	}
	if at := strings.LastIndexByte(code, '#'); at >= 0 {
		code = code[at+1:]
	}
	if at := strings.IndexByte(code, ':'); at > 0 {
		code = code[:at]
	}
	if at := strings.LastIndexByte(code, '.'); at >= 0 {
		code = code[at+1:]
	}
	if len(code) > maxCode {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, code)
}

// maxCode is the longest code that is looked at, in bytes.
const maxCode = 128

// strongCodes say what happened whatever the status is. Codes are squashed; those of one provider alone begin with its name and a slash.
// Under tool_use_failed and json_validate_failed Groq reports that the model's own output could not be used.
var strongCodes = codes{
	{ToolValidation, " toolusefailed "},
	{StructuredOutput, " jsonvalidatefailed jsonschemavalidationerror outputparserexception "},
	{RateLimit, " ratelimitexceeded ratelimiterror ratelimited ratelimit ratelimitreached toomanyrequests" +
		" toomanyrequestsexception toomanyrequestserror slowdown throttling throttled throttlingexception throttlederror" +
		" throttledexception throttlingerror requestlimitexceeded requestthrottled requestthrottledexception" +
		" provisionedthroughputexceededexception resourceexhausted resourceexhaustederror modelratelimitexceeded" +
		" mistral/1300 ratelimitexceedederror providerratelimiterror cerebras/requestquotaexceeded" +
		" cerebras/tokenquotaexceeded toomanytokenserror bedrock/limitexceededexception openrouterinflightbudget" +
		" concurrencylimitexceeded problem/quotaexceeded problem/abnormalusagedetected "},
	{Overloaded, " problem/temporaryreducedcapacity overloaded overloadederror serverisoverloaded modeloverloaded engineoverloaded" +
		" capacityexceeded queueexceeded serverbusy servicetiercapacityexceeded mistral/3505 nocapacity systemoverloaded" +
		" engineoverloadederror slowdownerror "},
	{Billing, " insufficientquota creditbalanceexhausted organizationspendlimitexceeded projectspendlimitexceeded" +
		" organizationusagelimitexceeded enforcedspendlimitreached billinghardlimitreached billingnotactive billingerror" +
		" billingdisabled insufficientbalance insufficientcredits insufficientcredit paymentrequired paymentrequirederror" +
		" paymentrequiredexception outofcredits creditlimitexceeded insufficientuserquota exceededcurrentquotaerror" +
		" budgetexceeded budgetexceedederror accesstomodelrequirescredits arrearage spendlimitreached "},
	{Quota, " quotaexceeded quotaexceedederror dailylimitexceeded monthlylimitexceeded usagelimitreached usagelimitexceeded" +
		" servicequotaexceededexception requestquotaexceeded tokenquotaexceeded quotalimitexceeded "},
	{Unavailable, " serviceunavailable serviceunavailableerror serviceunavailableexception unavailable internalservererror" +
		" internalserverexception internalfailure servererror internalerror internal badgateway modelerrorexception" +
		" modelstreamerrorexception modelnotreadyexception conflicterror aborted dataloss vectorstoretimeout" +
		" providererror upstreamerror "},
	{Timeout, " timeout timeouterror requesttimeout gatewaytimeout deadlineexceeded modeltimeoutexception apitimeouterror" +
		" providertimeouterror apiconnectiontimeouterror readtimeout connecttimeout writetimeout pooltimeout etimedout" +
		" econnaborted esockettimedout underrconnecttimeout underrheaderstimeout underrbodytimeout connecttimeouterror" +
		" headerstimeouterror bodytimeouterror requesttimeoutexception "},
	{Network, " networkerror errnetwork connectionerror connecterror readerror writeerror remoteprotocolerror" +
		" apiconnectionerror econnrefused econnreset enotfound epipe eaiagain ehostunreach enetunreach enetdown ehostdown" +
		" underrsocket fetcherror connectionrefusederror connectionreseterror brokenpipeerror sslerror connectionrefused" +
		" connectionreset errconnectionrefused errinternetdisconnected "},
	{Auth, " invalidapikey apikeyinvalid authenticationerror unauthorized unauthenticated incorrectapikey missingapikey" +
		" unauthorizederror expiredtokenexception unrecognizedclientexception invalidsignatureexception" +
		" missingauthenticationtoken accountdeactivated authorizationerror wrongapikey accesstokenexpired tokenexpired" +
		" invalidauthentication autherror providerautherror apikeyexpired incorrecthostname "},
	{Permission, " permissionerror permissiondeniederror accessdeniedexception accessdenied forbidden forbiddenerror" +
		" unsupportedcountryregionterritory servicedisabled consumersuspended apikeyserviceblocked" +
		" insufficientpermissions modelpermissionblockedorg modelpermissionblockedproject notauthorizedexception "},
	{ModelNotFound, " modelnotfound modelnotfounderror providermodelnotfounderror notfounderror resourcenotfoundexception" +
		" deploymentnotfound unknownmodel invalidmodel mistral/1500 modeldecommissioned modelunavailable unsupportedmodel" +
		" modelnotsupported modelnotactive unavailablemodel modeldeprecated modelnotavailable "},
	{ContextLength, " contextlengthexceeded contextlengtherror contextlength contextwindowexceedederror contextwindowexceeded" +
		" requesttoolarge modelcontextwindowexceeded exceedcontextsizeerror tokenslimitreached stringabovemaxlength" +
		" contextoverflow inputtoolong promptexceedscontext payloadtoolarge maxcontextlengthexceeded "},
	{ContentFilter, " contentfilter contentpolicyviolation contentpolicyviolationerror responsibleaipolicyviolation biopolicy" +
		" misalignmentpolicyviolation contentfiltered contentfiltererror safety moderation contentmoderation" +
		" moderationblocked datainspectionfailed prohibitedcontent cyberpolicy imagecontentpolicyviolation "},
	{InvalidResponse, " invalidresponse apiresponsevalidationerror jsondecodeerror "},
	{Truncated, " lengthfinishreasonerror "},
	{Cancelled, " cancelled canceled cancellederror errcanceled aborterror aborterr apiuseraborterror requestaborted "},
	{InvalidRequest, " invalidprompt operationnotsupported unimplemented unsupportedparameter unsupportedvalue unknownparameter" +
		" missingrequiredparameter invalidrequestmessageorder invalidimage invalidtype invalidvalue alreadyexists "},
	{Config, " configerror agentconfigerror "},
	{PermissionDenied, " eacces "},
	{NotFound, " enoent "},
	{IO, " eio enospc "},
}

// codes are the codes of each class in one text, with a space around each: a map of as many would be made whenever a program starts.
type codes []struct {
	class Class
	all   string
}

// of is the class of a squashed code; empty where it is not in the table.
func (t codes) of(code string) Class {
	code = " " + code + " "
	for n := range t {
		if strings.Contains(t[n].all, code) {
			return t[n].class
		}
	}
	return ""
}

// names is a small table of what names mean.
type names []struct {
	name  string
	class Class
}

// of is the class that a name means; empty where it is not in the table.
func (t names) of(name string) Class {
	for n := range t {
		if t[n].name == name {
			return t[n].class
		}
	}
	return ""
}

// weakCodes say little: a status that says more wins over them, and words may say the rest.
var weakCodes = names{
	{"invalidrequesterror", InvalidRequest}, {"invalidrequest", InvalidRequest}, {"invalidargument", InvalidRequest},
	{"badrequest", InvalidRequest}, {"badrequesterror", InvalidRequest}, {"validationexception", InvalidRequest},
	{"failedprecondition", InvalidRequest}, {"outofrange", InvalidRequest}, {"unprocessableentityerror", InvalidRequest},
	{"unprocessableentity", InvalidRequest}, {"invalidrequestprompt", InvalidRequest}, {"validationerror", InvalidRequest},
	{"apierror", Unavailable}, {"apistatuserror", Unavailable}, {"providerapierror", Unavailable}, {"tokens", RateLimit}, {"requests", RateLimit},
	{"invalidparametererror", InvalidRequest}, {"malformedrequest", InvalidRequest},
}

// bothMeanings are codes that mean a provider's answer where there is one, and a tool's failure where there is none.
var bothMeanings = names{{"notfound", ModelNotFound}, {"permissiondenied", Permission}}

// statuses are the HTTP statuses that say something of their own, first those that mean something else at one provider; ranges
// are in statusClass.
var statuses = [...]struct {
	provider string
	status   int
	class    Class
}{
	{"groq", 422, StructuredOutput}, {"cohere", 499, Unavailable},
	{"", 401, Auth}, {"", 402, Billing}, {"", 403, Permission}, {"", 404, ModelNotFound}, {"", 408, Timeout},
	{"", 409, Unavailable}, {"", 410, ModelNotFound}, {"", 413, ContextLength}, {"", 424, Unavailable}, {"", 425, Unavailable},
	{"", 429, RateLimit}, {"", 451, Permission}, {"", 498, Overloaded}, {"", 499, Cancelled}, {"", 504, Timeout},
	{"", 522, Timeout}, {"", 523, Network}, {"", 524, Timeout}, {"", 529, Overloaded}, {"", 598, Timeout},
	{"", 599, Timeout},
}

// statusClass is what a status says by itself; empty where it says nothing.
func statusClass(provider string, status int) Class {
	for _, row := range statuses {
		if row.status == status && (row.provider == "" || row.provider == provider) {
			return row.class
		}
	}
	switch {
	case status >= 500 && status <= 599:
		return Unavailable
	case status >= 400 && status <= 499:
		return InvalidRequest
	}
	return ""
}
