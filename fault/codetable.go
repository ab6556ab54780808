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

// strongCodes say what happened whatever the status is. Keys are squashed; those of one provider alone begin with its
// name and a slash.
var strongCodes = map[string]Class{
	// Groq reports under these that the model's own output could not be used.
	"toolusefailed": ToolValidation, "jsonvalidatefailed": StructuredOutput,

	"ratelimitexceeded": RateLimit, "ratelimiterror": RateLimit, "ratelimited": RateLimit, "ratelimit": RateLimit,
	"ratelimitreached": RateLimit, "toomanyrequests": RateLimit, "toomanyrequestsexception": RateLimit,
	"toomanyrequestserror": RateLimit, "slowdown": RateLimit, "throttling": RateLimit, "throttled": RateLimit,
	"throttlingexception": RateLimit, "throttlederror": RateLimit, "throttledexception": RateLimit, "throttlingerror": RateLimit,
	"requestlimitexceeded": RateLimit, "requestthrottled": RateLimit, "requestthrottledexception": RateLimit,
	"provisionedthroughputexceededexception": RateLimit, "resourceexhausted": RateLimit, "resourceexhaustederror": RateLimit,
	"modelratelimitexceeded": RateLimit, "mistral/1300": RateLimit, "ratelimitexceedederror": RateLimit, "providerratelimiterror": RateLimit,
	"cerebras/requestquotaexceeded": RateLimit, "cerebras/tokenquotaexceeded": RateLimit, "toomanytokenserror": RateLimit,
	"bedrock/limitexceededexception": RateLimit, "openrouterinflightbudget": RateLimit, "concurrencylimitexceeded": RateLimit,

	"problem/quotaexceeded": RateLimit, "problem/temporaryreducedcapacity": Overloaded, "problem/abnormalusagedetected": RateLimit,

	"insufficientquota": Billing, "creditbalanceexhausted": Billing, "organizationspendlimitexceeded": Billing,
	"projectspendlimitexceeded": Billing, "organizationusagelimitexceeded": Billing, "enforcedspendlimitreached": Billing,
	"billinghardlimitreached": Billing, "billingnotactive": Billing, "billingerror": Billing, "billingdisabled": Billing,
	"insufficientbalance": Billing, "insufficientcredits": Billing, "insufficientcredit": Billing, "paymentrequired": Billing,
	"paymentrequirederror": Billing, "paymentrequiredexception": Billing, "outofcredits": Billing, "creditlimitexceeded": Billing,
	"insufficientuserquota": Billing, "exceededcurrentquotaerror": Billing, "budgetexceeded": Billing,
	"budgetexceedederror": Billing, "accesstomodelrequirescredits": Billing, "arrearage": Billing, "spendlimitreached": Billing,

	"quotaexceeded": Quota, "quotaexceedederror": Quota, "dailylimitexceeded": Quota, "monthlylimitexceeded": Quota,
	"usagelimitreached": Quota, "usagelimitexceeded": Quota, "servicequotaexceededexception": Quota,
	"requestquotaexceeded": Quota, "tokenquotaexceeded": Quota, "quotalimitexceeded": Quota,

	"serviceunavailable": Unavailable, "serviceunavailableerror": Unavailable, "serviceunavailableexception": Unavailable,
	"unavailable": Unavailable, "internalservererror": Unavailable, "internalserverexception": Unavailable,
	"internalfailure": Unavailable, "servererror": Unavailable, "internalerror": Unavailable, "internal": Unavailable,
	"badgateway": Unavailable, "modelerrorexception": Unavailable, "modelstreamerrorexception": Unavailable,
	"modelnotreadyexception": Unavailable, "conflicterror": Unavailable, "aborted": Unavailable, "dataloss": Unavailable,
	"vectorstoretimeout": Unavailable, "providererror": Unavailable, "upstreamerror": Unavailable,

	"overloaded": Overloaded, "overloadederror": Overloaded, "serverisoverloaded": Overloaded, "modeloverloaded": Overloaded,
	"engineoverloaded": Overloaded, "capacityexceeded": Overloaded, "queueexceeded": Overloaded, "serverbusy": Overloaded,
	"servicetiercapacityexceeded": Overloaded, "mistral/3505": Overloaded, "nocapacity": Overloaded, "systemoverloaded": Overloaded,
	"engineoverloadederror": Overloaded, "slowdownerror": Overloaded,

	"timeout": Timeout, "timeouterror": Timeout, "requesttimeout": Timeout, "gatewaytimeout": Timeout, "deadlineexceeded": Timeout,
	"modeltimeoutexception": Timeout, "apitimeouterror": Timeout, "providertimeouterror": Timeout, "apiconnectiontimeouterror": Timeout, "readtimeout": Timeout,
	"connecttimeout": Timeout, "writetimeout": Timeout, "pooltimeout": Timeout, "etimedout": Timeout, "econnaborted": Timeout,
	"esockettimedout": Timeout, "underrconnecttimeout": Timeout, "underrheaderstimeout": Timeout, "underrbodytimeout": Timeout,
	"connecttimeouterror": Timeout, "headerstimeouterror": Timeout, "bodytimeouterror": Timeout, "requesttimeoutexception": Timeout,

	"networkerror": Network, "errnetwork": Network, "connectionerror": Network, "connecterror": Network, "readerror": Network,
	"writeerror": Network, "remoteprotocolerror": Network, "apiconnectionerror": Network, "econnrefused": Network,
	"econnreset": Network, "enotfound": Network, "epipe": Network, "eaiagain": Network, "ehostunreach": Network,
	"enetunreach": Network, "enetdown": Network, "ehostdown": Network, "underrsocket": Network, "fetcherror": Network,
	"connectionrefusederror": Network, "connectionreseterror": Network, "brokenpipeerror": Network, "sslerror": Network,
	"connectionrefused": Network, "connectionreset": Network, "errconnectionrefused": Network, "errinternetdisconnected": Network,

	"invalidapikey": Auth, "apikeyinvalid": Auth, "authenticationerror": Auth, "unauthorized": Auth, "unauthenticated": Auth,
	"incorrectapikey": Auth, "missingapikey": Auth, "unauthorizederror": Auth, "expiredtokenexception": Auth,
	"unrecognizedclientexception": Auth, "invalidsignatureexception": Auth, "missingauthenticationtoken": Auth,
	"accountdeactivated": Auth, "authorizationerror": Auth, "wrongapikey": Auth, "accesstokenexpired": Auth, "tokenexpired": Auth,
	"invalidauthentication": Auth, "autherror": Auth, "providerautherror": Auth, "apikeyexpired": Auth, "incorrecthostname": Auth,

	"permissionerror": Permission, "permissiondeniederror": Permission, "accessdeniedexception": Permission,
	"accessdenied": Permission, "forbidden": Permission, "forbiddenerror": Permission, "unsupportedcountryregionterritory": Permission,
	"servicedisabled": Permission, "consumersuspended": Permission, "apikeyserviceblocked": Permission,
	"insufficientpermissions": Permission, "modelpermissionblockedorg": Permission, "modelpermissionblockedproject": Permission,
	"notauthorizedexception": Permission,

	"modelnotfound": ModelNotFound, "modelnotfounderror": ModelNotFound, "providermodelnotfounderror": ModelNotFound, "notfounderror": ModelNotFound,
	"resourcenotfoundexception": ModelNotFound, "deploymentnotfound": ModelNotFound, "unknownmodel": ModelNotFound,
	"invalidmodel": ModelNotFound, "mistral/1500": ModelNotFound, "modeldecommissioned": ModelNotFound,
	"modelunavailable": ModelNotFound, "unsupportedmodel": ModelNotFound, "modelnotsupported": ModelNotFound,
	"modelnotactive": ModelNotFound, "unavailablemodel": ModelNotFound, "modeldeprecated": ModelNotFound,
	"modelnotavailable": ModelNotFound,

	"contextlengthexceeded": ContextLength, "contextlengtherror": ContextLength, "contextlength": ContextLength,
	"contextwindowexceedederror": ContextLength, "contextwindowexceeded": ContextLength, "requesttoolarge": ContextLength,
	"modelcontextwindowexceeded": ContextLength, "exceedcontextsizeerror": ContextLength, "tokenslimitreached": ContextLength,
	"stringabovemaxlength": ContextLength, "contextoverflow": ContextLength, "inputtoolong": ContextLength,
	"promptexceedscontext": ContextLength, "payloadtoolarge": ContextLength, "maxcontextlengthexceeded": ContextLength,

	"contentfilter": ContentFilter, "contentpolicyviolation": ContentFilter, "contentpolicyviolationerror": ContentFilter,
	"responsibleaipolicyviolation": ContentFilter, "biopolicy": ContentFilter, "misalignmentpolicyviolation": ContentFilter,
	"contentfiltered": ContentFilter, "contentfiltererror": ContentFilter, "safety": ContentFilter, "moderation": ContentFilter,
	"contentmoderation": ContentFilter, "moderationblocked": ContentFilter, "datainspectionfailed": ContentFilter,
	"prohibitedcontent": ContentFilter, "cyberpolicy": ContentFilter, "imagecontentpolicyviolation": ContentFilter,

	"invalidresponse": InvalidResponse, "apiresponsevalidationerror": InvalidResponse, "jsondecodeerror": InvalidResponse,
	"lengthfinishreasonerror": Truncated, "jsonschemavalidationerror": StructuredOutput, "outputparserexception": StructuredOutput,

	"cancelled": Cancelled, "canceled": Cancelled, "cancellederror": Cancelled, "errcanceled": Cancelled, "aborterror": Cancelled,
	"aborterr": Cancelled, "apiuseraborterror": Cancelled, "requestaborted": Cancelled,

	"invalidprompt": InvalidRequest, "operationnotsupported": InvalidRequest, "unimplemented": InvalidRequest,
	"unsupportedparameter": InvalidRequest, "unsupportedvalue": InvalidRequest, "unknownparameter": InvalidRequest,
	"missingrequiredparameter": InvalidRequest, "invalidrequestmessageorder": InvalidRequest, "invalidimage": InvalidRequest,
	"invalidtype": InvalidRequest, "invalidvalue": InvalidRequest, "alreadyexists": InvalidRequest,

	"configerror": Config, "agentconfigerror": Config,

	"eacces": PermissionDenied, "enoent": NotFound, "eio": IO, "enospc": IO,
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
