package fault

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/httphint"
)

// squash folds the ways a code is written into one: "rate_limit_error", "RateLimitError" and
// "rate-limit-error" are the same. Bedrock puts a namespace before a type and an address after it, Python a
// package before a class; all of it goes. The problem types of the IETF draft keep theirs: a quota there is a
// rate limit.
func squash(code string) string {
	if _, problem, is := strings.Cut(code, "http-problem-types#"); is {
		return "problem/" + squash(problem)
	}
	code = code[strings.LastIndexByte(code, '#')+1:]
	if at := strings.IndexByte(code, ':'); at > 0 {
		code = code[:at]
	}
	code = code[strings.LastIndexByte(code, '.')+1:]
	if len(code) > maxCode {
		return ""
	}
	return httphint.Squash(code)
}

// maxCode is the longest code that is looked at, in bytes.
const maxCode = 128

// strongCodes classify a failure whatever its status. Codes are squashed; those of one provider alone begin
// with its name and a slash. Under tool_use_failed, output_parse_failed and json_validate_failed Groq reports
// that the model's own output could not be used. The numbers are those of
// https://docs.bigmodel.cn/cn/api/api-code and https://platform.minimax.io/docs/api-reference/errorcode.
var strongCodes = meanings(strongTable)

const strongTable = `
tool_validation: toolusefailed outputparsefailed
structured_output: jsonvalidatefailed jsonschemavalidationerror outputparserexception
rate_limit: ratelimitexceeded ratelimiterror ratelimited ratelimit ratelimitreached toomanyrequests
rate_limit: toomanyrequestsexception toomanyrequestserror slowdown throttling throttled throttlingexception
rate_limit: throttlederror throttledexception throttlingerror requestlimitexceeded requestthrottled
rate_limit: requestthrottledexception provisionedthroughputexceededexception resourceexhausted
rate_limit: resourceexhaustederror modelratelimitexceeded mistral/1300 ratelimitexceedederror
rate_limit: providerratelimiterror cerebras/requestquotaexceeded cerebras/tokenquotaexceeded
rate_limit: toomanytokenserror bedrock/limitexceededexception openrouterinflightbudget
rate_limit: concurrencylimitexceeded problem/quotaexceeded problem/abnormalusagedetected
overloaded: problem/temporaryreducedcapacity overloaded overloadederror serverisoverloaded modeloverloaded
overloaded: engineoverloaded capacityexceeded queueexceeded serverbusy servicetiercapacityexceeded
overloaded: mistral/3505 nocapacity systemoverloaded engineoverloadederror slowdownerror serveroverloaded
overloaded: modelcapacityexhausted provideroverloaded
billing: insufficientquota creditbalanceexhausted organizationspendlimitexceeded projectspendlimitexceeded
billing: organizationusagelimitexceeded enforcedspendlimitreached billinghardlimitreached billingnotactive
billing: billingerror billingdisabled insufficientbalance insufficientcredits insufficientcredit
billing: insufficientbalanceerror
billing: paymentrequired paymentrequirederror paymentrequiredexception outofcredits creditlimitexceeded
billing: insufficientuserquota exceededcurrentquotaerror budgetexceeded budgetexceedederror
billing: accesstomodelrequirescredits arrearage spendlimitreached accountoverdueerror usagenotincluded
billing: contractspendlimitreached
quota: quotaexceeded quotaexceedederror dailylimitexceeded monthlylimitexceeded usagelimitreached
quota: usagelimitexceeded servicequotaexceededexception requestquotaexceeded tokenquotaexceeded
quota: quotalimitexceeded setlimitexceeded freetieronly tokenquotareached
unavailable: serviceunavailable serviceunavailableerror serviceunavailableexception unavailable
unavailable: internalservererror internalserverexception internalfailure servererror internalerror internal
unavailable: badgateway modelerrorexception modelstreamerrorexception modelnotreadyexception conflicterror
unavailable: aborted dataloss vectorstoretimeout providererror upstreamerror providerunavailable
timeout: timeout timeouterror requesttimeout gatewaytimeout deadlineexceeded modeltimeoutexception
timeout: apitimeouterror providertimeouterror apiconnectiontimeouterror readtimeout connecttimeout
timeout: writetimeout pooltimeout etimedout econnaborted esockettimedout underrconnecttimeout
timeout: underrheaderstimeout underrbodytimeout connecttimeouterror headerstimeouterror bodytimeouterror
timeout: requesttimeoutexception
network: networkerror errnetwork connectionerror connecterror readerror writeerror remoteprotocolerror
network: apiconnectionerror econnrefused econnreset enotfound epipe eaiagain ehostunreach enetunreach
network: enetdown ehostdown underrsocket fetcherror connectionrefusederror connectionreseterror
network: brokenpipeerror sslerror connectionrefused connectionreset errconnectionrefused
network: errinternetdisconnected
auth: invalidapikey apikeyinvalid authenticationerror unauthorized unauthenticated incorrectapikey
auth: missingapikey unauthorizederror expiredtokenexception unrecognizedclientexception
auth: invalidsignatureexception missingauthenticationtoken accountdeactivated authorizationerror wrongapikey
auth: accesstokenexpired tokenexpired invalidauthentication autherror providerautherror apikeyexpired
auth: incorrecthostname authentication
permission: permissionerror permissiondeniederror accessdeniedexception accessdenied forbidden
permission: forbiddenerror unsupportedcountryregionterritory servicedisabled consumersuspended
permission: apikeyserviceblocked insufficientpermissions modelpermissionblockedorg
permission: modelpermissionblockedproject notauthorizedexception accessterminated
permission: modeltermsrequired organizationrestricted
model_not_found: modelnotfound modelnotfounderror providermodelnotfounderror notfounderror
model_not_found: resourcenotfoundexception deploymentnotfound unknownmodel invalidmodel mistral/1500
model_not_found: modeldecommissioned modelunavailable unsupportedmodel modelnotsupported modelnotactive
model_not_found: unavailablemodel modeldeprecated modelnotavailable
context_length: contextlengthexceeded contextlengtherror contextlength contextwindowexceedederror
context_length: contextwindowexceeded requesttoolarge modelcontextwindowexceeded exceedcontextsizeerror
context_length: tokenslimitreached stringabovemaxlength contextoverflow inputtoolong promptexceedscontext
context_length: payloadtoolarge maxcontextlengthexceeded modelmaxprompttokensexceeded
context_length: tokenlimitexceeded stringtoolong
content_filter: contentfilter contentpolicyviolation contentpolicyviolationerror
content_filter: responsibleaipolicyviolation biopolicy misalignmentpolicyviolation contentfiltered
content_filter: contentfiltererror safety moderation contentmoderation moderationblocked
content_filter: datainspectionfailed prohibitedcontent cyberpolicy imagecontentpolicyviolation
content_filter: censorshipblocked hooksfailed
invalid_response: invalidresponse apiresponsevalidationerror jsondecodeerror
truncated: lengthfinishreasonerror
cancelled: cancelled canceled cancellederror errcanceled aborterror aborterr apiuseraborterror
cancelled: requestaborted
invalid_request: operationnotsupported unimplemented unsupportedparameter unsupportedvalue
invalid_request: unknownparameter missingrequiredparameter invalidrequestmessageorder invalidimage
invalid_request: invalidtype invalidvalue alreadyexists invalidimageformat invalidbase64image
invalid_request: invalidimageurl imagetoolarge imagetoosmall imageparseerror invalidimagemode
invalid_request: imagefiletoolarge unsupportedimagemediatype emptyimagefile failedtodownloadimage
invalid_request: imagefilenotfound notsupportederror unsupportedimageformat imagenotfound
invalid_request: imagedownloadfailed dataresidencymismatch
config: configerror agentconfigerror
auth: zhipu/1000 zhipu/1001 zhipu/1002 zhipu/1003 zhipu/1004 minimax/1004 minimax/2049
permission: zhipu/1110 zhipu/1111 zhipu/1112 zhipu/1121 zhipu/1220 zhipu/1311 zhipu/1313
model_not_found: zhipu/1211 zhipu/1221 zhipu/1222
billing: zhipu/1113 zhipu/1309 minimax/1008
quota: zhipu/1304 zhipu/1308 zhipu/1310 minimax/2056
rate_limit: zhipu/1302 zhipu/1303 zhipu/1305 minimax/1002 minimax/1039 minimax/1041
rate_limit: minimax/2045
overloaded: zhipu/1312 minimax/2064
unavailable: zhipu/1120 zhipu/1230 zhipu/1234 minimax/1000 minimax/1024 minimax/1033
timeout: minimax/1001
context_length: zhipu/1261
content_filter: zhipu/1301 minimax/1026 minimax/1027
invalid_request: minimax/1042
permission_denied: eacces
not_found: enoent
io: eio enospc
`

// meanings reads a table of lines, each a class and the names that mean it: see [httphint.Lookup].
func meanings(table string) func(name string) Class {
	class := httphint.Lookup(table)
	return func(name string) Class { return Class(class(name)) }
}

// weakCodes are vague: a more exact status wins over them, and words may be more exact.
var weakCodes = meanings(weakTable)

const weakTable = `
invalid_request: invalidrequesterror invalidrequest invalidargument badrequest badrequesterror
invalid_request: validationexception failedprecondition outofrange unprocessableentityerror
invalid_request: unprocessableentity invalidrequestprompt validationerror invalidparametererror
invalid_request: malformedrequest minimax/2013 invalidprompt
unavailable: apierror apistatuserror providerapierror server
rate_limit: tokens requests
`

// bothMeanings are codes with this meaning in a provider's answer. Elsewhere they are failures of a tool.
var bothMeanings = meanings(bothTable)

const bothTable = `
model_not_found: notfound
permission: permissiondenied
`

// statuses are the HTTP statuses that say something of their own. Those that mean it at one provider alone
// begin with its name and a slash; ranges are in statusClass.
var statuses = meanings(statusTable)

const statusTable = `
structured_output: groq/422
unavailable: cohere/499 409 424 425
auth: 401
billing: 402
permission: 403 451
model_not_found: 404 410
timeout: 408 504 522 524 598 599
context_length: 413
rate_limit: 429
overloaded: 498 529
cancelled: 499
network: 523
`

// statusClass returns the class of a status alone, or "".
func statusClass(provider string, status int) Class {
	text := strconv.Itoa(status)
	found := cmp.Or(statuses(provider+"/"+text), statuses(text))
	switch {
	case found != "":
		return found
	case status >= 500 && status <= 599:
		return Unavailable
	case status >= 400 && status <= 499:
		return InvalidRequest
	}
	return ""
}
