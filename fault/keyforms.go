package fault

import (
	"regexp"
	"strings"
	"sync"
)

// form is a form in which providers, clients and dumps of requests repeat a key. Its second group is the key.
type form struct {
	*regexp.Regexp
	// named is set if the form begins with a name: it is looked for only where one begins.
	named bool
	// doubt says how much the key must look like one, for ordinary words stand in the same places.
	doubt doubt
	// has are words in lower case: a text with the form has one of them. Most texts have none, and a search
	// for words takes a hundredth of the time.
	has []string
}

type doubt uint8

const (
	always      doubt = iota // the form itself says that it is a key
	unlessWord               // all but words joined by _, as invalid_grant
	unlessSaid               // all but words that say something of a key
	unlessProse              // all but words of prose
	ifMixed                  // only what looks like a key, or has a letter and a digit behind it
	ifRandom                 // only what looks like a key
)

const (
	// named are names that only keys have, and vague those that other things have, too.
	named = `(?:api|access|account|admin|auth|bearer|bot|client|csrf|deploy|encryption|id|master|oauth|` +
		`personal|private|refresh|secret|security|service|session|shared|signing|subscription|user|webhook|` +
		`xsrf)` + sep + `(?:access` + sep + `)?(?:key(?:_base)?|token|secret)` +
		`|[a-z]*passw(?:or[dt]|d)|passphrase|passcode|pwd|secret|credentials?|otp`
	vague = `key|token|jwt|sig|signature|auth|pass|pw|jsessionid|phpsessid|connect\.sid`
	// sep is within a name: in the name of a query also percent-encoded.
	sep = `(?:[_\- ]|%5f|%2d|%20)?`
	// is stands between a name and a key: in prose, JSON, YAML, headers, Go's print of headers, URLs.
	is = `(?:\s+(?:provided|is|was|given|used|value))?` + quote +
		`\s*(?:=>|[:=])(?:[\s\[]|\]string\{|[|>][+\-]?\s)*` +
		`(?:[“‘«]|` + quote + `)`
	quote = `(?:\\+u0022|\\*["']?)`
	// value is a key.
	value = `([^\s"'\\&,;)}\]\x60<>”’»]{4,})`
	// begin goes before names, where these begin.
	begin = `(?i)^((?:`
	// password are the names of passwords.
	password = `passw(?:or[dt]|d)|passphrase|passcode|pwd|` +
		`(?:admin|auth|database|db|default|ftp|http|imap|ldap|login|mail|mongo|mysql|pg|postgres|` +
		`proxy|redis|root|smtp|ssh|user|vnc)_pass`
	// pair is a cookie.
	pair = `[^\s=;,"'\\]+=(?:"[^"]*"|[^\s;,"'\\\]]*)`
)

// ofNamed, ofVague and ofPasswords are what the names have in common.
const (
	ofNamed     = "key token secret passw passphrase passcode pwd credential otp"
	ofVague     = "key token jwt sig auth pass pw sessid sessionid .sid"
	ofPasswords = "passw passphrase passcode pwd _pass"
	ofBoth      = ofNamed + " " + ofVague
)

// ofCommands is a command with the flag of a password, and commands are their names.
const (
	commands = "sshpass login mongo rdesktop useradd plink pscp psftp sqlcmd ipmitool zip openssl redis-cli " +
		"snmp ldap"
	ofCommands = `(\b(?:(?:(?:sshpass|login|mongo\w*|rdesktop|useradd)\s(?:.*?\s)?-p|` +
		`p(?:link|scp|sftp)\s(?:.*?\s)?-pw|(?:sqlcmd|ipmitool|zip|unzip)\s(?:.*?\s)?-P|` +
		`redis-cli\s(?:.*?\s)?-a|snmp\w*\s(?:.*?\s)?-[AX]|ldap\w*\s(?:.*?\s)?-w)`
)

// dumped is a variable on a line of its own of an environment, where another follows: its value may have
// blanks.
var dumped = formOf(unlessSaid, "=",
	`(?i)((?:^|\n)\s*(?:export\s+|declare -x\s+|set\s+)?\w*(?:`+password+`|secret)=)`+
		`([^\s"'][^\n]{3,})\n\s*(?:export\s+|declare -x\s+|set\s+)?\w+=`)

// armoured is a private key, of any number of lines.
var armoured = formOf(always, "-----begin",
	`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)(.*?)(?:-----END [A-Z ]*-----|$)`)

// formOf returns a form. has are words in lower case: each text with a key of this form has one of them.
func formOf(doubt doubt, has, pattern string) form {
	return form{regexp.MustCompile(pattern), strings.HasPrefix(pattern, begin), doubt, strings.Fields(has)}
}

// secrets are the forms, in the order in which they are looked for. They are compiled when they are first
// looked for, because that takes milliseconds.
var secrets = sync.OnceValue(func() []form {
	return []form{
		armoured,
		formOf(ifRandom, "-----end", // its beginning was cut off
			`(^|[^A-Za-z0-9+/=\\\s])([A-Za-z0-9+/=\\\s]{16,})-----END [A-Z ]*PRIVATE KEY`),
		formOf(always, "cookie",
			`(?i)(\b(?:set-)?cookie\\*["']?\s*[:=][\s\[]*\\*["']?)(`+pair+
				`(?:(?:;\s*|\\*["'],\s*\\*["'])`+pair+`)*)`),
		// Authorization: Bearer …, authorization: token …
		formOf(unlessProse, "authorization",
			begin+`authorization)`+is+
				`(?:bearer|basic|token|digest|negotiate|ntlm|bot|api-?key|key|aws|splunk|hmac|aws4-hmac-sha256|`+
				`sso-key|genie-?key)\s+)`+value),
		formOf(ifRandom, "authorization",
			begin+`authorization)`+is+`)`+value),
		formOf(ifRandom, "bearer basic",
			`(?i)(\b(?:bearer|basic)(?:[\s"',:=\\]+|%20))([A-Za-z0-9_\-.~+/=*]{8,})`),
		formOf(always, "response= nonce=",
			`(?i)(\b(?:response|c?nonce)=\\*["']?)([0-9a-f]{16,})`),
		// Keys that say by how they begin that they are keys.
		formOf(always, "sk_ sk- rk_ rk- ghp gho ghu ghs ghr xai_ xai- pplx nvapi whsec tvly jina lsv2 "+
			"ntn_ ntn- figd glsa xox xapp glpat glrt gldt glcbt glptt glsoat glft glagent doo_ dop_ dor_ "+
			"tgp dckr shp sntry lin_ rubygems pypi gocspx age- github_pat aiza akia asia ltai ya29. eyj "+
			"sg. hvs. hvb. hvr. dapi att3x ctt3x key- :aa",
			`(\b|_|/bot)((?:sk|rk|gsk|csk|gh[pousr]|xai|pplx|nvapi|whsec|tvly|jina|lsv2|`+
				`ntn|figd|glsa|xox[abeprs]|xapp|gl(?:pat|rt|dt|cbt|ptt|soat|ft|agent)|do[opr]_v1|tgp_v1|`+
				`dckr_pat|shp(?:at|ss|ca|pa)|sntry[su]|lin_api|rubygems|pypi|GOCSPX|AGE-SECRET-KEY|`+
				`github_pat)[_\-][A-Za-z0-9_\-.*]{6,}|AIza[A-Za-z0-9_\-*]{8,}|A(?:KIA|SIA)[A-Z0-9*]{8,}|`+
				`LTAI[A-Za-z0-9]{12,}|ya29\.[A-Za-z0-9_\-.*]{6,}|eyJ[A-Za-z0-9_\-]{8,}[A-Za-z0-9_\-.=*]*|`+
				`SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}|hv[sbr]\.[A-Za-z0-9_\-]{16,}|dapi[0-9a-f]{32}|`+
				`AT(?:ATT|CTT)3x[A-Za-z0-9_\-=]{16,}|key-[0-9a-f]{32}|[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,})`),
		formOf(ifRandom, "pk_ pk- hf_ hf- r8_ r8- sess_ sess- fw_ fw- npm_ npm- pat_ pat- pmak rnd_ rnd- "+
			"sbp secret_ secret- sq0 dp.pt.", // these begin words, too
			`(\b|_)((?:pk|hf|r8|sess|fw|npm|pat|PMAK|rnd|sbp|secret|sq0[a-z]{3})[_\-][A-Za-z0-9_\-.*]{6,}|`+
				`dp\.pt\.[A-Za-z0-9]{16,})`),
		// Addresses: https://user:password@host, https://token@host, user:password@tcp(host), the hooks of
		// chats.
		// A password may have @ and /, but what begins with a port is a path.
		formOf(always, "://",
			`(://[^/\s:@\[]*:)([^/\s@]*[^/\s@0-9][^\s"'<>?#]*|[0-9]{6,}[^\s"'<>?#]*|`+
				`[0-9]+(?:@[^\s"'<>?#]*)?)@`),
		formOf(ifRandom, "://",
			`(://)([^/\s:@]{16,})@`),
		formOf(always, "@tcp( @unix(",
			`(\b\w+:)([^\s:@/]{4,})@(?:tcp|unix)\(`),
		formOf(always, "hooks.slack.com/ discord",
			`(hooks\.slack\.com/services/|discord(?:app)?\.com/api/webhooks/)([A-Za-z0-9/_\-]{8,})`),
		// jdbc:oracle:thin:user/password@host, jdbc:postgresql://host/db?password=…
		formOf(always, "jdbc:",
			`(?i)(\bjdbc:oracle:\w+:[^\s/@]+/)("[^"]+"|[^\s"@][^\s"]*)@`),
		formOf(unlessSaid, ofPasswords,
			`(?i)(\bjdbc:[^\s"'<>]*[?&;:,](?:`+password+`)=)([^\s"'\\&;,)}\]\x60<>{]+)`),
		formOf(always, "=",
			`(?i)([?&](?:`+vague+`)=)`+value),
		formOf(unlessWord, "=",
			`(?i)([?&]code=)`+value),
		formOf(ifMixed, "session=",
			`(?i)([?&]session=)`+value),
		// curl -u user:password, --token …
		formOf(ifMixed, "-u -a",
			`(\s(?:-[ua]|--auth|--(?:proxy-)?user)[ =]['"]?[^\s:]*[^\s:0-9][^\s:]*:)([^\s'"]{4,})`),
		formOf(always, "curl",
			`(\bcurl\s(?:.*?\s)?(?:-[uU]|--(?:proxy-)?user)[ =]?['"]?[^\s:]*:)([^\s'"]{4,})`),
		formOf(always, "curl",
			`(\bcurl\s(?:.*?\s)?(?:-b|--cookie)[ =]?['"]?)(`+pair+`(?:;\s*`+pair+`)*)`),
		formOf(unlessSaid, "mysql 7z",
			`(\b(?:mysql|7z)\w*\s(?:.*?\s)?-p)([^\s'"]{4,})`),
		formOf(unlessSaid, commands, ofCommands+`[ =]['"]?|openssl\s(?:.*?\s)?-k\s['"]?))([^\s'"]{4,})`),
		formOf(ifMixed, commands, ofCommands+`['"]?))([^\s'"]{4,})`), // mongo … -please is a flag
		// openssl -passin pass:…, keytool -storepass …, cmdkey /pass:…, aws configure set
		// aws_secret_access_key …
		formOf(unlessSaid, "pass freerdp config sqlplus smb rpcclient",
			`(\s-pass(?:in|out)?[ =]['"]?pass:|\s-(?:src|dest|new)?(?:store|key)pass[ =]['"]?|`+
				`\s/pass(?:word)?:['"]?|\b\w*freerdp\s(?:.*?\s)?/p:['"]?|`+
				`\b(?i:config(?:ure)?\s+set\s+[\w.:/\-]*(?:`+named+
				`|token))[ =]['"]?|\bsqlplus\s(?:.*?\s)?\w+/|\b(?:smb\w+|rpcclient)\s(?:.*?\s)?(?:-U|`+
				`--user)[ =]?['"]?[^\s%]+%)([^\s'"]{4,})`),
		// htpasswd -nb user …, htpasswd -b file user …, net use share /user:name …
		formOf(unlessSaid, "htpasswd /user:",
			`(\bhtpasswd\s(?:.*?\s)?-\w*(?:n\w*b|b\w*n)\w*\s+\S+\s+['"]?|`+
				`\bhtpasswd\s(?:.*?\s)?-\w*b\w*\s+(?:-\S+\s+)*\S+\s+\S+\s+['"]?|`+
				`(?i:\bnet\s+use\s(?:.*?\s)?/user:)\S+\s+['"]?)([^\s'"/][^\s'"]{3,})`),
		// net use share … /user:name, net user name … /add
		formOf(unlessSaid, "net",
			`(?i)(\bnet\s+use\s(?:\S:\s+)?\\\\\S+\s+['"]?|`+
				`\bnet\s+user\s+[^\s/]\S*\s+['"]?)([^\s'"/][^\s'"]{3,})['"]?\s+/(?:user|savecred|add|domain|`+
				`active|expires|y\b)`),
		// CREATE USER … IDENTIFIED BY '…', WITH PASSWORD '…', and a line of .netrc
		formOf(unlessSaid, "identified password",
			`(?i)(\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?'|\b(?:with|encrypted|(?:user|`+
				`role)\s+\S+)\s+password\s+['"]|\bmachine\s+\S+\s+(?:.*?\s)?login\s+\S+\s+password\s+|`+
				`\bmysqladmin\s(?:.*?\s)?password\s+['"]?)([^\s'"]{4,})`),
		formOf(unlessSaid, "--",
			`(?i)(\s--(?:`+named+`|token)[ =]['"]?)([^\s'"]{4,})`),
		formOf(unlessProse, "--key",
			`(\s--key[ =]['"]?)([^\s'"]{4,})`),
		// {"password":"with spaces and \" in it"}, <password>…</password>
		formOf(unlessProse, "passw passphrase pwd secret",
			`(?i)("[a-z_\-]*(?:passw(?:or)?d|passphrase|pwd|secret)"\s*:\s*")((?:[^"\\]|\\.){4,})`),
		formOf(unlessProse, "passw passphrase pwd secret",
			`(?i)('[a-z_\-]*(?:passw(?:or)?d|passphrase|pwd|secret)'\s*:\s*')((?:[^'\\]|\\.){4,})`),
		// password for ann is …, secret was set to '…', with password …, wrong password '…'
		formOf(ifMixed, "secret "+ofPasswords,
			begin+password+
				`|secret)(?:\s+for\s+\S+?)?(?:(?:\s+(?:is|was))?\s+set\s+to|\s+is|\s+was|:)\s+[\["'“‘«\x60]*)`+
				value),
		formOf(ifMixed, ofPasswords,
			`(?i)(\bwith\s+(?:the\s+)?(?:`+password+`)\s+|\b(?:`+password+`)\s+["'“‘«\x60])`+value),
		// Connection strings: Pwd={with ; and }} in it}, password='with spaces', passwd=with,commas
		formOf(always, ofPasswords,
			`(?i)((?:`+password+`)\s*=\s*\{)((?:[^}]|\}\})+)`),
		formOf(unlessProse, ofPasswords,
			`(?i)((?:`+password+`)\s*=\s*')((?:[^'\\]|\\.){4,})`),
		formOf(unlessSaid, ofPasswords,
			`(?i)((?:`+password+`)=)([^\s"'\\&;)}\]\x60<>”’»]{4,})`),
		formOf(unlessSaid, ofNamed,
			begin+named+`)=)`+value),
		formOf(unlessProse, ofNamed,
			`(?i)(<(?:\w+:)?(?:`+named+`)>)([^<]{4,})`),
		// "api_key": "…", x-api-key: …, password=…, key provided: …
		formOf(unlessProse, ofNamed,
			begin+named+`)`+is+`)`+value),
		formOf(ifRandom, ofVague,
			begin+vague+`)`+is+`)`+value),
		// ["api_key", "…"], | token | … |, {"name": "API_KEY", "value": "…"}
		formOf(ifRandom, ofBoth,
			begin+named+`|`+vague+`)(?:\\*["'][\s,/]*\\*["']?value\\*["']?\s*[:=]\s*\\*["']|`+
				`["']?\s*[,|][\s"']*))`+value),
		// invalid key '…', API key … is not valid
		formOf(ifRandom, ofBoth,
			begin+named+`|`+vague+
				`)s?\s+(?:(?:is|was|of|value|provided|given)\s+)?\\*["'\x60“‘«(<])([^\s"'\\\x60”’»)>]{8,})`),
		formOf(ifRandom, ofBoth,
			begin+named+`|`+vague+`)\s+(?:is\s+)?)([A-Za-z0-9_\-.~+/=]{16,})`),
	}
})

// list is a form of lists under the name of a key. Its match ends where the items begin. item matches the
// next item, again and again; its first group may be a key.
type list struct {
	form
	item *regexp.Regexp
}

// listOf returns a list under one of the names. opening stands before the items.
func listOf(names, opening, item string) list {
	return list{
		formOf(always, ofBoth, begin+names+`)s?`+quote+`\s*(?:=>|[:=])\s*`+opening+`)`),
		regexp.MustCompile(item),
	}
}

// lists are api_keys: ["…", "…"], {"api_keys": {"a": "…", "b": "…"}}, those of YAML, and API_KEYS=…,… The
// members of an object whose name other things have, too, may be anything.
var lists = sync.OnceValue(func() []list {
	return []list{
		listOf(named, `(?:\[\]string)?\{`, bracketed),
		listOf(named+`|`+vague, `[\[(]`, bracketed),
		listOf(named+`|`+vague, `-\s+`, `^["'\\]*(?:\s+-\s+)?["'\\]*([^\s,:"'\\)}\]]+)`),
		listOf(named+`|`+vague, ``, `^(?:["'\\]*,)?["'\\]*([^\s,;&:"'\\{(\[)}\]]+)`),
	}
})

// name is any name that begins a form, and maxName is more bytes than one has before its last word ends.
var name = sync.OnceValue(func() form {
	return formOf(always, ofBoth, `(?i)^(?:authorization|`+named+`|`+vague+`|`+password+`)`)
})

const maxName = 80

// bracketed is an item in brackets, or the name or value of a member.
const bracketed = `^(?:[\s,:=>"'\\{(\[]|u0022)*([^\s,:"'>\\{(\[)}\]]+)`

// ofPassword is the name of a password.
var ofPassword = regexp.MustCompile(`(?i)` + password)
