package fault_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

func TestKeysAreLeftOut(t *testing.T) {
	const key = "Zq8xV2mN4bT7rW1pLs0d"
	for _, said := range []string{
		"Incorrect API key provided: " + key + ". You can find your API key at https://platform.openai.com/account/api-keys.",
		"Incorrect API key provided: sk-proj-" + key + "****",
		`{"error":{"message":"invalid x-api-key: ` + key + `","type":"authentication_error"}}`,
		`Get "https://generativelanguage.googleapis.com/v1/models?alt=sse&key=AIza` + key + `&x=1": EOF`,
		`Get "http://localhost/v1?key=` + key + `": connection refused`,
		"header Authorization: Bearer " + key + " is not valid",
		"authorization: Basic " + key,
		`{"api_key": "` + key + `"}`, `{\"api_key\": \"` + key + `\"}`, "token=" + key, "password: " + key,
		"JWT eyJhbGciOiJIUzI1NiJ9." + key + ".sig is expired", "gsk_" + key, "AKIA" + strings.ToUpper(key), "hf_" + key, "xai-" + key,
		"dial https://user:" + key + "@proxy.example:3128: refused",
	} {
		scrubbed := fault.Scrub(said)
		assert.NotContains(t, scrubbed, key[:8], said)
		assert.NotContains(t, scrubbed, strings.ToUpper(key), said)
		assert.Contains(t, scrubbed, "[key left out]", said)
		assert.Equal(t, scrubbed, fault.Scrub(scrubbed), "twice is once")

		e := &fault.ProviderError{Class: fault.Auth, Provider: "openai", Message: said, Cause: errors.New(said)}
		assert.NotContains(t, e.Error(), key[:8])
		assert.NotContains(t, e.Failure().Message, key[:8])
		assert.NotContains(t, fault.Classify(fault.Response{Status: 401, Body: []byte(said)}).Message, key[:8])
		e.Message = ""
		assert.NotContains(t, e.Error(), key[:8])
	}
}

// The forms in which providers, clients and dumps of requests repeat keys. % is the key, and ~ a percent
// sign.
func TestEveryFormOfAKeyIsLeftOut(t *testing.T) {
	const random, digits, hex, word = "Zq8xV2mN4bT7rW1pLs0d", "0123456789012345", "9f86d081884c7d659a2feaa0c55ad015", "correcthorsebattery"
	before := strings.Repeat("Two lines:\n  all of this stays.\n", 50)
	for said, keys := range map[string][]string{
		// What providers say.
		"Incorrect API key provided: %. You can find your API key at https://example.com.": {random, hex},
		"Incorrect API key provided: '%'":                                                  {random, hex},
		"invalid key '%'":                                                                  {random, hex},
		"Invalid API key `%`":                                                              {random, hex},
		"invalid x-api-key: %":                                                             {random, digits, hex},
		"authentication_error: x-api-key: %":                                               {random, digits, hex},
		"authorization: x-api-key: %":                                                      {random, digits, hex},
		"API key % is not valid. Please pass a valid API key.":                             {random, hex},
		"The api_key \"%\" was not found":                                                  {random, hex},
		"token '%' has expired":                                                            {random, hex},
		"unknown API key “%”":                                                              {random, hex},
		"clé API invalide : key «%»":                                                       {random, hex},
		"password: “%”":                                                                    {random, digits, hex, word},
		"jwt: %":                                                                           {random, hex},
		"Access token % is revoked":                                                        {random, hex},
		"personal access token: %":                                                         {random, digits, hex},
		`{"error":{"message":"bad key","key":"%"}}`:                                        {random, hex},
		`{"api_key": "%"}`:                                                                 {random, digits, hex, word},
		`{\"api_key\": \"%\"}`:                                                             {random, digits, hex, word},
		`{"clientSecret":"%"}`:                                                             {random, digits, hex, word},
		`{"accessToken" : "%"}`:                                                            {random, digits, hex, word},
		`{"refresh_token":"%","expires_in":3600}`:                                          {random, digits, hex, word},
		"signature: % does not match":                                                      {random, hex},
		// Dumps of requests.
		"Authorization: Bearer %":                             {random, digits, hex, word},
		"authorization: token %":                              {random, digits, hex, word},
		"Authorization: Basic %":                              {random, hex},
		"Proxy-Authorization: Basic %":                        {random, hex},
		"Authorization: %":                                    {random, hex},
		`"Authorization":["Bearer %"]`:                        {random, digits, hex, word},
		"map[Authorization:[Bearer %] X-Api-Key:[%]]":         {random, digits, hex, word},
		"X-Goog-Api-Key: %":                                   {random, digits, hex, word},
		"api-key=%":                                           {random, digits, hex, word},
		"Ocp-Apim-Subscription-Key: %":                        {random, digits, hex, word},
		"PRIVATE-TOKEN: %":                                    {random, digits, hex, word},
		"X-Amz-Security-Token=%":                              {random, digits, hex, word},
		"X-Vault-Token: %":                                    {random, hex},
		`{"password":"my % and more"}`:                        {random, digits, hex, word},
		`{"db_password": "hun\"ter %"}`:                       {random, digits, hex, word},
		"<password>%</password>":                              {random, digits, hex, word},
		`{"Cookie":["a=b","session=%"]}`:                      {random, digits, hex, word},
		`Set-Cookie: session="x %"; Path=/`:                   {random, digits, hex, word},
		"Cookie: session=%; theme=dark":                       {random, digits, hex, word},
		"Set-Cookie: sid=%; Path=/; HttpOnly":                 {random, digits, hex, word},
		"AWS4-HMAC-SHA256 Credential=x/20260101, Signature=%": {random, hex},
		`Digest username="u", nonce="%", response="%"`:        {hex},
		"> x-api-key: %\n> content-type: application/json":    {random, digits, hex, word},
		// Addresses.
		`Get "https://h/v1?key=%&x=1": EOF`:                                                      {random, digits, hex, word},
		`Get "https://h/v1?a=1&access_token=%": EOF`:                                             {random, digits, hex, word},
		`Get "https://h/c?sv=2024&sig=%&se=1": EOF`:                                              {random, digits, hex, word},
		"https://h/?X-Amz-Signature=%":                                                           {random, hex},
		"dial https://user:%@proxy:3128: refused":                                                {random, digits, hex, word},
		"git clone https://%@github.com/a/b failed":                                              {random, hex},
		"postgres://u:%@db/x?sslmode=disable":                                                    {random, digits, hex, word},
		"root:%@tcp(127.0.0.1:3306)/x":                                                           {random, digits, hex, word},
		"https://hooks.slack.com/services/T0/B0/%":                                               {random, digits, hex, word},
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%;":                             {random, digits, hex, word},
		"Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=%":                            {random, digits, hex, word},
		"Server=db;Uid=u;Pwd=%;":                                                                 {random, digits, hex, word},
		"postgres://u:p@%/w@host/db":                                                             {random, digits, hex, word},
		"postgres://u:%@p/w@host/db?sslmode=disable":                                             {random, digits, hex, word},
		"amqp://u:%/x@mq.example.com:5672/v":                                                     {random, digits, hex, word},
		"mongodb+srv://u:%@c.example.net/?retryWrites=true":                                      {random, digits, hex, word},
		"redis://:%@cache:6379/0":                                                                {random, digits, hex, word},
		"https://h/x?api~5Fkey=%":                                                                {random, digits, hex, word},
		"https://h/x?api~2Dkey=%&a=1":                                                            {random, digits, hex, word},
		"https://h/x?a=1&access~5ftoken=%":                                                       {random, digits, hex, word},
		"https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIAX&X-Amz-Expires=60&X-Amz-Signature=%": {random, hex},
		"https://storage.googleapis.com/b/o?GoogleAccessId=x&Signature=%":                        {random, hex},
		"https://a.blob.core.windows.net/c?sp=r&sig=%&spr=https":                                 {random, digits, hex, word},
		"https://h/cb#access_token=%&token_type=bearer":                                          {random, digits, hex, word},
		"https://h/cb?code=%&state=1":                                                            {random, digits, hex, word},
		// Connection strings.
		"host=db user=u passwd=a,%":                                    {random, digits, hex, word},
		"Driver={ODBC Driver 18};Server=s;Uid=u;Pwd={a;%};Encrypt=yes": {random, digits, hex, word},
		"Driver={X};PWD={a}}%;b};Database=d":                           {random, digits, hex, word},
		"Server=s;Password={%};Encrypt=yes":                            {random, digits, hex, word},
		"host=db password='x y %' dbname=x":                            {random, digits, hex, word},
		"user=u password=% host=db":                                    {random, digits, hex, word},
		"AccountEndpoint=https://x/;AccountKey=%;":                     {random, digits, hex, word},
		"jdbc:mysql://h/db?user=u&password=%":                          {random, digits, hex, word},
		"jdbc:sqlserver://h;user=u;password=%;":                        {random, digits, hex, word},
		// Commands and environments.
		"curl -H 'Authorization: Bearer %' https://h":    {random, digits, hex, word},
		`curl -H "Authorization: Basic %" https://h`:     {random, hex},
		"curl --user 'admin:%' https://h":                {random, digits, hex, word},
		"curl -uadmin:% https://h":                       {random, digits, hex, word},
		"curl -b 'session=%' https://h":                  {random, digits, hex, word},
		"mysql -u root -p% db":                           {random, hex, word},
		"export GITHUB_TOKEN=%":                          {random, digits, hex},
		"AWS_SECRET_ACCESS_KEY=% AWS_REGION=eu-west-1":   {random, digits, hex, word},
		"declare -x ANTHROPIC_API_KEY=\"%\"":             {random, digits, hex, word},
		"AZURE_OPENAI_API_KEY=%":                         {random, digits, hex, word},
		"GOOGLE_API_KEY: %":                              {random, digits, hex, word},
		"MISTRAL_API_KEY='%'":                            {random, digits, hex, word},
		"[DB_PASSWORD=% PATH=/bin HOME=/root]":           {random, digits, hex, word},
		`["OPENAI_API_KEY=%","PATH=/bin"]`:               {random, digits, hex, word},
		"apiKey: %\nmodel: x":                            {random, digits, hex, word},
		"password: |\n  %":                               {random, digits, hex, word},
		"client_secret: >-\n  %":                         {random, digits, hex, word},
		"stringData:\n  password: \"%\"":                 {random, digits, hex, word},
		`{\\\"api_key\\\":\\\"%\\\"}`:                    {random, digits, hex, word},
		`{\"headers\":{\"Authorization\":\"Bearer %\"}}`: {random, digits, hex, word},
		`{\u0022api_key\u0022:\u0022%\u0022}`:            {random, digits, hex, word},
		`{"aws_session_token":"%"}`:                      {random, digits, hex, word},
		`{"private_key":"-----BEGIN PRIVATE KEY-----\n%\n-----END PRIVATE KEY-----\n"}`:   {random, hex},
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n%\n-----END PGP PRIVATE KEY BLOCK-----": {random, hex},
		"-----BEGIN EC PRIVATE KEY-----\r\n%":                                             {random, hex},
		"map[Authorization:[Basic %]]":                                                    {random, hex},
		"map[Cookie:[a=b; session=%] Host:[h]]":                                           {random, digits, hex, word},
		`http.Header{"X-Api-Key":[]string{"%"}}`:                                          {random, digits, hex, word},
		`http.Header{"Authorization":[]string{"Bearer %"}}`:                               {random, digits, hex, word},
		"{'Authorization': 'Bearer %'}":                                                   {random, digits, hex, word},
		"[('x-api-key', '%')]":                                                            {random, digits, hex},
		"request to wss://h/ws?token=% failed":                                            {random, hex},
		"id_token=eyJhbGciOiJIUzI1NiJ9.%.x is expired":                                    {random, hex},
		"{eyJhbGciOiJIUzI1NiJ9.%}":                                                        {random, hex},
		"AccessKeyId: LTAI%":                                                              {random, hex},
		"X-Auth-Token: %":                                                                 {random, digits, hex, word},
		"xi-api-key: %":                                                                   {random, digits, hex, word},
		"X-Amz-Security-Token: %":                                                         {random, digits, hex, word},
		"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=%": {random, hex},
		"curl -H 'x-api-key: %' https://h": {random, digits, hex, word},
		"curl -u admin:% https://h":        {random, digits, hex, word},
		"tool --token % run":               {random, digits, hex, word},
		"tool --api-key=%":                 {random, digits, hex, word},
		"OPENAI_API_KEY=%":                 {random, digits, hex, word},
		"aws_secret_access_key = %":        {random, digits, hex, word},
		"PGPASSWORD=% psql":                {random, digits, hex, word},
		// Lists, pairs of a name and a value, and names in short.
		`{"name":"API_KEY","value":"%"}`:               {random, hex},
		`Header{Name: "x-api-key", Value: "%"}`:        {random, hex},
		`<add key="ApiKey" value="%"/>`:                {random, hex},
		`<input name="password" value="%">`:            {random, hex},
		"| api_key | % |":                              {random, hex},
		`api_key,"%"`:                                  {random, hex},
		`"api_keys":["%"]`:                             {random, hex},
		"api_keys: [%]":                                {random, hex},
		`tokens: ["%"]`:                                {random, hex},
		"PASS=%":                                       {random, hex},
		"db.pass=%":                                    {random, hex},
		"auth: {user: ann, pass: %}":                   {random, hex},
		`"pw": "%"`:                                    {random, hex},
		"SECRET_KEY_BASE=%":                            {random, digits, hex, word},
		"JSESSIONID=%":                                 {random, hex},
		"bearer:%":                                     {random, hex},
		`Bearer "%"`:                                   {random, hex},
		"('Bearer', '%')":                              {random, hex},
		"my key is %":                                  {random, hex},
		"API key <%> invalid":                          {random, hex},
		"the API key (%) is invalid":                   {random, hex},
		"Authorization: AWS %":                         {random, digits, hex, word},
		"https://h/bot123456789:AA%_%/getMe":           {random, hex},
		"curl -u :% https://h":                         {random, digits, hex, word},
		"curl -U ann:% https://h":                      {random, digits, hex, word},
		"http -a ann:% https://h":                      {random, hex, "hunter2"},
		"MIIEpAIBAAKCAQEA%\n-----END PRIVATE KEY-----": {random, hex},
		"sbp_%":                               {random, hex},
		"api_keys: [Aq8xV2mN4bT7rW1pLs0e, %]": {random, hex},
		`{"api_keys":["Aq8xV2mN4bT7rW1pLs0e", "%"]}`:           {random, hex, "0123456789abcdef"},
		`{\"api_keys\":[\"Aq8xV2mN4bT7rW1pLs0e\",\"%\"]}`:      {random, hex},
		"api_keys=['Aq8xV2mN4bT7rW1pLs0e', b'%']":              {random, hex},
		"{'api_keys': ('a', 'b', '%')}":                        {random, hex},
		"client_secrets = {'Aq8xV2mN4bT7rW1pLs0e', '%'}":       {random, hex},
		`APIKeys:[]string{"Aq8xV2mN4bT7rW1pLs0e", "%"}`:        {random, hex},
		"{APIKeys:[Aq8xV2mN4bT7rW1pLs0e %] Model:x}":           {random, hex},
		"map[X-Api-Key:[Aq8xV2mN4bT7rW1pLs0e %] Host:[h]]":     {random, hex},
		`{"X-Api-Key":["Aq8xV2mN4bT7rW1pLs0e","%"]}`:           {random, hex},
		"api_keys:\n  - Aq8xV2mN4bT7rW1pLs0e\n  - %\nmodel: x": {random, hex},
		"api_keys:\n- 'one'\n- \"%\"":                          {random, hex},
		`secrets: [null, "two words", "%"]`:                    {random, hex},
		`{"api_keys":{"openai":"Aq8xV2mN4b","xai":"%"}}`:       {random, hex},
		"API_KEYS=Aq8xV2mN4bT7rW1pLs0e,%":                      {random, hex},
		"API_KEY=Aq8xV2mN4bT7rW1pLs0e,%":                       {random, hex},
		"api_keys: \"Aq8xV2mN4bT7rW1pLs0e\",\"%\"":             {random, hex},
		`"passwords": ["x", "%"]`:                              {random, hex, "hunter2"},
		// JDBC.
		"jdbc:oracle:thin:scott/%@h:1521:x":         {random, digits, hex, word, "tiger", "pw"},
		"jdbc:oracle:oci:scott/%@//h/x failed":      {random, digits, hex, word, "tiger", "p@w"},
		`jdbc:oracle:thin:scott/"%"@h:1521:x`:       {random, digits, hex, word, "ti@ger", "ti/ger"},
		"jdbc:postgresql://h/db?user=u&password=%":  {random, digits, hex, word, "pw", "p~40s"},
		"jdbc:postgresql://h/db?password=%&ssl=on":  {random, digits, hex, word, "pw"},
		"jdbc:h2:tcp://h/x;USER=sa;PASSWORD=%":      {random, digits, hex, word, "pw"},
		"jdbc:clickhouse://h/db?user=u&password=%.": {random, digits, hex, word, "pw"},
		// Passwords of words, and what goes on behind them.
		"DB_PASSWORD=%\nhome=/root":            {random, digits, hex, word, "correct horse"},
		"export DB_PASSWORD=%\nexport user=x":  {random, digits, hex, word, "correct horse"},
		"A=b\nDB_SECRET=%\nC=d":                {random, digits, hex, word, "correct horse"},
		"env db_password=% user=ann ./run":     {random, digits, hex, word},
		"SMTP_PASS=% curl":                     {random, digits, hex, word},
		"CLIENT_SECRET=% run":                  {random, digits, hex, word},
		"{password: %, user: x}":               {random, digits, hex, word},
		"{'password': '%', 'user': 'x'}":       {random, digits, hex, word, "correct horse"},
		"password: % user: ann":                {random, digits, hex, word},
		"tool --password % run":                {random, digits, hex, word},
		"tool --client-secret '%' run":         {random, digits, hex, word},
		"sshpass -p % ssh h":                   {random, digits, hex, word},
		"docker login -u ann -p % registry":    {random, digits, hex, word},
		"plink -pw % host":                     {random, digits, hex, word},
		"redis-cli -a % get x":                 {random, digits, hex, word},
		"the password is %":                    {random, hex, "hunter2"},
		"the password is \"%\"":                {random, hex, "hunter2"},
		"the password was set to %.":           {random, hex, "hunter2"},
		"login with password % failed":         {random, hex, "hunter2"},
		"wrong password '%'":                   {random, hex, "hunter2"},
		"secret is %":                          {random, hex, "hunter2"},
		"Passwort: %":                          {random, digits, hex, word},
		"passcode: %":                          {random, digits, hex, word},
		"Password for ann: %":                  {random, hex},
		`net use \\srv\share /user:me %`:       {random, digits, hex, word},
		`net use Z: \\srv\share % /user:me`:    {random, digits, hex, word},
		"net user ann % /add":                  {random, digits, hex, word},
		"cmdkey /add:h /user:ann /pass:%":      {random, digits, hex, word},
		"xfreerdp /u:ann /p:% /v:h":            {random, digits, hex, word},
		"openssl rsa -passin pass:% -in f":     {random, digits, hex, word},
		"openssl enc -aes256 -pass pass:%":     {random, digits, hex, word},
		"openssl enc -k % -in f":               {random, digits, hex, word},
		"htpasswd -b file ann %":               {random, digits, hex, word},
		"htpasswd -nbB ann % | tee file":       {random, digits, hex, word},
		"htpasswd -B -C 10 -b file ann %":      {random, digits, hex, word},
		"smbclient //h/s -U ann~%":             {random, digits, hex, word},
		"mongosh -u ann -p % h":                {random, digits, hex, word},
		"curl --proxy-user ann:% https://h":    {random, digits, hex, word},
		"sqlplus scott/%@db":                   {random, digits, hex, word},
		"unzip -P % a.zip":                     {random, digits, hex, word},
		"7z x -p% a.7z":                        {random, digits, hex, word},
		"keytool -storepass % -keypass '%'":    {random, digits, hex, word},
		"ipmitool -H h -U ann -P % power":      {random, digits, hex, word},
		"snmpget -v3 -u ann -A % h":            {random, digits, hex, word},
		"mysqladmin -u root password %":        {random, digits, hex, word},
		"CREATE USER a IDENTIFIED BY '%'":      {random, digits, hex, word},
		"ALTER ROLE a WITH PASSWORD '%'":       {random, digits, hex, word},
		"machine h login ann password %":       {random, digits, hex, word},
		"aws configure set secret_token %":     {random, digits, hex, word},
		"ftp://u:%@h/x":                        {random, digits, hex, word},
		"DATABASE_URL=postgres://u:%@db/x?a=b": {random, digits, hex, word},
		"password: %":                          {random, digits, hex, word},
		"password='%'":                         {random, digits, hex, word},
		"secret => %":                          {random, digits, hex, word},
		// Keys that begin as such.
		"glpat-%": {random, hex}, "ghp_%": {random, hex}, "github_pat_%": {random, hex}, "gsk_%": {random, hex}, "hf_%": {random, hex},
		"npm_%": {random, hex}, "xoxb-%": {random, hex}, "xapp-%": {random, hex}, "whsec_%": {random, hex}, "sk-ant-%": {random, hex},
		"shpat_%": {random, hex}, "dckr_pat_%": {random, hex}, "tvly-%": {random, hex}, "lsv2_%": {random, hex}, "hvs.%": {random, hex},
		"dapi%": {hex}, "key-%": {hex}, "12345678:AA%" + random: {random}, "SG.%.%": {random, hex}, "GOCSPX-%": {random, hex}, "AIza%": {random},
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE %\n%\n-----END RSA PRIVATE KEY-----": {random, hex},
		"-----BEGIN OPENSSH PRIVATE KEY-----\n%":                                    {random, hex},
	} {
		if testing.Short() {
			keys = keys[:1]
		}
		for _, key := range keys {
			text := strings.NewReplacer("%", key, "~", "%").Replace(said)
			scrubbed := fault.Scrub(text)
			assert.NotContains(t, scrubbed, key, text)
			assert.Contains(t, scrubbed, "[key left out]", text)
			assert.Equal(t, scrubbed, fault.Scrub(scrubbed), "twice is once")

			above := before
			if strings.HasPrefix(text, "MII") { // the end of a text that was cut
				above = ""
			}
			whole := fault.ScrubText(above + text + "\n")
			assert.NotContains(t, whole, key, text)
			assert.True(t, strings.HasPrefix(whole, above), text)
			assert.Equal(t, whole, fault.ScrubText(whole), text)
		}
	}
}

func TestAKeyIsLeftOutByHowItBegins(t *testing.T) {
	for _, begins := range strings.Fields("sk- sk_ rk_ gsk_ csk- ghp_ gho_ ghu_ ghs_ ghr_ xai- pplx- nvapi- whsec_ " +
		"tvly- jina_ lsv2_ ntn_ figd_ glsa_ xoxa- xoxb- xoxp- xapp- glpat- glrt- gldt- glcbt- glptt- glsoat- glft- " +
		"glagent- doo_v1_ dop_v1_ dor_v1_ tgp_v1_ dckr_pat_ shpat_ shpss_ shpca_ shppa_ sntrys_ sntryu_ lin_api_ " +
		"rubygems_ pypi- GOCSPX- AGE-SECRET-KEY- github_pat_ AIza ya29. eyJ hvs. hvb. hvr. ATATT3x ATCTT3x pk_ hf_ " +
		"r8_ sess- fw_ npm_ pat- PMAK- rnd_ sbp_ secret_ sq0abc- dp.pt.") {
		assert.Equal(t, "no [key left out] there", fault.Scrub("no "+begins+"Zq8xV2mN4bT7rW1pLs0d there"), begins)
	}
	for _, key := range []string{"AKIAZQ8XV2MN4BT7RW1P", "ASIAZQ8XV2MN4BT7RW1P", "LTAI5tZq8xV2mN4bT7rW1pLs"} {
		assert.Equal(t, "no [key left out] there", fault.Scrub("no "+key+" there"))
	}
}

// The first word of a name may be of any length.
func TestAKeyOfALongNameIsLeftOut(t *testing.T) {
	for n := range 120 {
		name := strings.Repeat("a", n) + "password"
		assert.Equal(t, name+": [key left out] there", fault.Scrub(name+": Zq8xV2mN4bT7rW1pLs0d there"))
	}
}

func TestWhatIsNoKeyStays(t *testing.T) {
	for _, said := range []string{
		"rate limit reached for gpt-4o in organization org-abc: limit 30000 tokens per min", "no such key", "429 slow down",
		"max_tokens: 8192 is more than the model's 4096", "the signature of f has changed", "connection reset by peer",
		"unexpected token: '}'", "unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", "unknown key 'colour'", "unknown key: colour",
		"invalid token: expected string, got number", "the key must be a string", "duplicate key \"customer_id\"",
		`{"password":"must be at least 8 characters"}`, `{"secret": "is too short, use 8"}`, `{"new_password":"Required field"}`,
		"<password>is wrong</password>", "password: must be at least 8 characters", "api key: missing", "authorization: required", "Authorization header is missing",
		"basic authentication is required", "bearer authentication failed", "the token is expired", "token limit exceeded: 8192",
		"key: value pairs are expected", "primary key violation on table orders", "foreign key constraint fails", "tokens: 12345678",
		"a cookie is needed", "cookie: must be set", "monkey: banana", "keyboard: qwerty", "the secret is out of date",
		"see https://platform.example.com/account/api-keys", "input token count 131072 exceeds the limit", "context_length_exceeded",
		`{"key": "colour", "value": "blue"}`, "no value for key user.name", "signature mismatch", "finish_reason: token_limit",
		"mail someone@example.com", "http://localhost:8080/v1/chat", "prompt_tokens=812345 completion_tokens=12",
		"token: ContextWindowExceededError", "unknown parameter: 'max_completion_tokens'", "-----BEGIN CERTIFICATE----- MIIE",
		// Flags and names that begin as keys do.
		"mongo exited -please", "login failed -perhaps the user is gone", "zip archive -Please", "ldap search -wrong base",
		"the flag -u user:group", "chown -u root:wheel", "pk_column", "hf_dataset", "npm-run-all", "secret_name", "pat_answer",
		"pass: 3 of 4", "name=\"token\" value=\"limit\"", "-----END CERTIFICATE-----", "the keys: id, name", "secrets: enabled",
		// Words, ids and numbers beside the names of keys.
		"token count: 12", "the password is wrong", "key not found: id", "tokens used: 812", "password: wrong", "secret santa",
		"commit 9f86d081884c7d659a2feaa0c55ad01512345678 was not found", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"request id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "req_011CQ2yJ4p7zJ9Xn8vTtUqVb failed", "call_Zq8xV2mN4bT7rW1p has no result",
		"toolu_01A09q90qw90lq917835lq9 has no result", "max_tokens must be at most 4096", "max_completion_tokens: 16384",
		"stop token: \"</s>\"", "special token <|endoftext|> is not allowed", "token 1234 is out of the vocabulary",
		"invalid token at position 17", "token bucket is empty, wait 2s", "unexpected token } in JSON at position 4",
		"key \"a\" is given twice", "key: required", "keys: a, b, c", "missing key: name", "the key of the map is a number",
		"cache key miss: prompts", "idempotency key reused", "partition key: user", "hotkey: ctrl", "the author is unknown",
		"authentication failed for user ann", "authorization failed", "auth: failed", "basic auth is off", "basic plan: 20 requests",
		"the bearer of the ticket", "password must have digits", "passwords do not match", "credentials: required",
		"no credentials found in the environment", "secret not found: db/prod", "session expired", "session: not found",
		"the signature is invalid", "signature: func(int) string", "cookies are off", "user:name@example.com",
		"see https://example.com/a@b/c", "https://example.com/@scope/pkg", "git@github.com:retake-go/retake.git",
		"http://localhost:11434/api/chat?x=a@b", "https://h:8443/p@q", "npm install @scope/pkg@1.2.3", "mailto:a@example.com",
		"-----BEGIN PUBLIC KEY----- MIIB", "100% of the key space", "wait 2s: code=429", "status code=503&retry=1",
		"sort -u words.txt", "docker run -u 1000:1000 image", "see page 12: key findings",
		"use --password to set one", "--token is required", "give --api-key or --token", "the flag --password expects a value", "mkdir -p folder/x",
		"docker run -p 8080:80 image", "password=required", "login failed -p is missing", "password: wrong user=ann", "the password is the one of yesterday",
		"the password is base64 encoded", "the password is sha256-hashed", "the password is 90days old", "password is utf-8",
		"the password is expired", "login with password failed", "the password was set to expire", "with password hashing",
		`net use \\srv\share /user:me failed`, "the net user count is 12", "net use of tokens fell", "htpasswd -B file ann",
		"msbuild /p:Configuration=Release x", "openssl s_client -key file.pem -connect h", "unzip -p a.zip file.txt",
		"7z x a.7z", "zip -r archive.zip folder", "unexpected password 'field'", `import password "example.com/x/password"`,
		"the session key is order-42", "git config set user.name ann", "the set of keys -k 4000",
		"user ann password expired", "openssl req -newkey rsa:2048 -keyout test.key", `the function identified by "repeat"`,
		"client login with password only must fail", "tests_pass=1234 of 2000", "ssh -p 2222 host", "password for ann: expired", "'password': 'must be at least 8 characters'",
		// Lists.
		"keys: [id, name, created_at]", `"tokens": ["the", "cat", "sat"]`, "tokens: [101, 7592, 2088, 102]", `{"keys":["colour","size"],"id":"3f2504e0-4f89-11d3"}`,
		"secrets: - db - cache image: registry/app:v1.22.3", "keys=a,b,c", `{"password":["This field is required."]}`, "secrets: [db], commit 9f86d081884c7d659",
		`{"password":["Ensure this field has at least 8 characters."]}`, `{"password":["is too short","can't be blank"],"id":"req_011CQ2yJ4p7z"}`,
		"tokens: [] request 3f2504e0-4f89-11d3-9a0c-0305e82c3301", `{"key":{"id":"3f2504e0-4f89-11d3-9a0c"}}`, "auth: {user: 3f2504e0-4f89-11d3}", "api_keys: none, see req_011CQ2yJ4p7zJ", "tokens=12,30,4096",
		"keys(a1b2c3d4e5, b)", "token: end, line 12", "key: a, value: 0a1b2c3d4e5f", "jdbc:oracle:thin:@h:1521:x", "jdbc:mysql://h/db?a=b", "see jdbc:oracle:thin:docs/driver.html",
		"?password=required", "api_keys: {}, id 3f2504e0-4f89-11d3-9a0c", "signature=(a, b) of 3f2504e0-4f89-11d3-9a0c",
	} {
		assert.Equal(t, said, fault.Scrub(said))
		assert.Equal(t, said, fault.Scrub(fault.Scrub(said)))
		text := strings.Repeat(said+"\n\t", 30)
		assert.Equal(t, text, fault.ScrubText(text))
	}
}

// A text of any length stays as it is but for the keys in it.
func TestALongTextStaysWholeButForItsKeys(t *testing.T) {
	const key = "sk-ant-api03-Zq8xV2mN4bT7rW1pLs0d"
	for _, text := range []string{
		strings.Repeat("one  two\t三\n\n", 1000), strings.Repeat("x", 5000), strings.Repeat("日", 5000), strings.Repeat("a,b ", 2000),
	} {
		assert.Equal(t, text, fault.ScrubText(text))
		assert.Equal(t, text+" [key left out] "+text, fault.ScrubText(text+" "+key+" "+text))
	}
	assert.Equal(t, "a b", fault.ScrubText("a\xff b"))
}

// What is put in the place of a key is not taken for one.
func TestWhatWasLeftOutStaysSo(t *testing.T) {
	assert.Equal(t, "password={[key left out]};x=y", fault.Scrub("password={a;b};x=y"))
	assert.Equal(t, `api_keys: ["[key left out]", "[key left out]"]`, fault.Scrub(`api_keys: ["Aq8xV2mN4bT7rW1pLs0e", "Aq8xV2mN4bT7rW1pLs0f"]`))
}

func TestScrubbedTextIsOneSeenLine(t *testing.T) {
	assert.Equal(t, `a b \x1b[2J \u202e \u009b x`, fault.Scrub("a\n\tb \x1b[2J \u202e \u009b x\xff"))
	long := fault.Scrub(strings.Repeat("a", 10<<20))
	assert.Len(t, []byte(long), 1024)
	assert.Equal(t, long, fault.Scrub(long))
}

// BenchmarkScrub takes messages of providers, and a page of what a tool says, with a word that names of keys
// have, too.
func BenchmarkScrub(b *testing.B) {
	limit := "Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29876, " +
		"Requested 512. Please try again in 776ms."
	for _, c := range []struct{ name, text string }{
		{"overloaded", "The model is overloaded."}, {"limit", limit}, {"page", strings.Repeat("the token service failed: ", 300)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				fault.ScrubText(c.text)
			}
		})
	}
}
