/* preset_errors: the preset `errors` (SEMANTICS §3), a table of the exceptions that clients of
 * other systems raise, in Python, Node, Java, Go, .NET and Ruby. A family is a row: a verdict and a
 * list of the types' names.
 *
 * A name matches with or without Error or Exception at its end (rule_types_match in rule.h), so
 * that `*Timeout` finds ReadTimeout, ReadTimeoutError and SocketTimeoutException, but not
 * TimeoutPolicyInvalidError: a word in the middle of a name says little about it. Where one type
 * carries failures of several kinds (OperationalError, ClientError, Error), rows with a text stand
 * before the family: their texts are forms in which libraries begin a message, never words that may
 * stand anywhere in it, since those may come from the input. Types that say nothing of the failure
 * (RuntimeError, DownstreamError) have rows of their own at the end.
 *
 * tests/table/exceptions.txt has a case for what the libraries raise; tests/clients raises it anew.
 * docs/config.md lists every family; a test compares the two. */
#include "core/presets/preset.h"

#define TEXT(literal)                                                                              \
    { (literal), sizeof(literal) - 1 }
#define LIST(list)      (list), sizeof(list) / sizeof *(list)
#define TYPES(list)     .types = {LIST(list)}
#define MESSAGES(list)  .messages = {LIST(list)}
#define SAYS(from, to)  .message_status = {from, to}
#define TELLS(from, to) .told_status = {from, to}

/* FAMILY(its name in the table, verdict, category, reason, conditions…) */
#define FAMILY(key, does, its_category, its_reason, ...)                                           \
    {                                                                                              \
        .when = {__VA_ARGS__}, .verdict = VERDICT_##does, .category = TEXT(its_category),          \
        .reason = TEXT(its_reason), .name = TEXT("preset:errors[" key "]"),                        \
        .downstream = VERDICT_##does == VERDICT_RETRY                                              \
    }

/* clang-format off */

/* ---- types that carry an HTTP status in their message ---- */

static const struct bytes http_types[] = {
    TEXT("HTTP"), TEXT("HTTPStatus"), TEXT("ClientResponse"), TEXT("Axios"), TEXT("HttpRequest"), TEXT("Web"),
    TEXT("HttpClient"), TEXT("HttpClientError"), TEXT("HttpServerError"), TEXT("WebClientResponse"),
    TEXT("RestClientResponse"), TEXT("Feign"), TEXT("HTTPFatal"), TEXT("HTTPServer"), TEXT("APIStatus"), TEXT("API"), TEXT("HttpResponse"),
    TEXT("Response"), TEXT("Transport"), TEXT("Request"),
};

/* ---- AWS: the code stands behind "An error occurred" ---- */

static const struct bytes aws_types[] = {TEXT("*ClientError")};
#define AWS(code) TEXT("An error occurred (" code ")*")
static const struct bytes aws_throttled[] = {
    TEXT("An error occurred (Throttl*"), TEXT("An error occurred (TooManyRequests*"), AWS("RequestLimitExceeded"),
    AWS("ProvisionedThroughputExceededException"), AWS("BandwidthLimitExceeded"), AWS("SlowDown"),
    AWS("RequestThrottled"), AWS("RequestThrottledException"), AWS("PriorRequestNotComplete"), AWS("EC2ThrottledException"),
};
static const struct bytes aws_unavailable[] = {
    TEXT("An error occurred (ServiceUnavailable*"), TEXT("An error occurred (InternalServer*"), AWS("InternalError"),
    AWS("InternalFailure"), AWS("RequestTimeout"), AWS("RequestTimeoutException"), AWS("ModelNotReadyException"),
    AWS("ModelTimeoutException"), AWS("500"), AWS("502"), AWS("503"), AWS("504"),
};
static const struct bytes aws_refused[] = {
    AWS("UnrecognizedClientException"), AWS("InvalidClientTokenId"), AWS("InvalidAccessKeyId"),
    AWS("SignatureDoesNotMatch"), AWS("InvalidSignatureException"), AWS("ExpiredToken"), AWS("ExpiredTokenException"),
    AWS("AccessDenied"), AWS("AccessDeniedException"), AWS("MissingAuthenticationToken"), AWS("IncompleteSignature"),
    AWS("AuthFailure"), AWS("OptInRequired"), AWS("403"),
};
static const struct bytes aws_invalid[] = {
    TEXT("An error occurred (Validation*"), TEXT("An error occurred (InvalidParameter*"), AWS("InvalidRequestException"),
    AWS("SerializationException"), AWS("ConditionalCheckFailedException"), AWS("NoSuchKey"), AWS("NoSuchBucket"),
    AWS("ResourceNotFoundException"), AWS("404"),
};

/* ---- gRPC: the code begins the message; of Python's it is the second line ---- */

#define RPC(code, name, number)                                                                    \
    TEXT("<*RPC that terminated with:\n\tstatus = StatusCode." code "\n*"),                        \
    TEXT("<*RPC that terminated with:\n\tstatus = StatusCode." code), TEXT(code ": *"), TEXT(code), \
    TEXT(number " " code ": *"), TEXT("rpc error: code = " name " desc = *"),                      \
    TEXT("Status(StatusCode=\"" name "\"*")
static const struct bytes rpc_types[] = {
    TEXT("*Rpc"), TEXT("*MultiThreadedRendezvous"), TEXT("StatusRuntime"), TEXT("Status"), TEXT("*status.Error"),
    TEXT("*status.statusError"), TEXT("Error"), TEXT("panic"),
};
static const struct bytes rpc_unavailable[] = {RPC("UNAVAILABLE", "Unavailable", "14")};
static const struct bytes rpc_deadline[] = {RPC("DEADLINE_EXCEEDED", "DeadlineExceeded", "4")};
static const struct bytes rpc_exhausted[] = {RPC("RESOURCE_EXHAUSTED", "ResourceExhausted", "8")};
static const struct bytes rpc_aborted[] = {RPC("ABORTED", "Aborted", "10")};
static const struct bytes rpc_refused[] = {RPC("UNAUTHENTICATED", "Unauthenticated", "16"),
                                           RPC("PERMISSION_DENIED", "PermissionDenied", "7")};
static const struct bytes rpc_invalid[] = {RPC("INVALID_ARGUMENT", "InvalidArgument", "3"),
                                           RPC("FAILED_PRECONDITION", "FailedPrecondition", "9"),
                                           RPC("OUT_OF_RANGE", "OutOfRange", "11")};
static const struct bytes rpc_not_found[] = {RPC("NOT_FOUND", "NotFound", "5")};

/* ---- databases: one type for many failures ---- */

static const struct bytes database_types[] = {
    TEXT("Operational"), TEXT("PSQL"), TEXT("*pgconn.ConnectError"), TEXT("*pgconn.PgError"), TEXT("Database"), TEXT("error"),
    TEXT("ConnectionBad"), TEXT("SQLInvalidAuthorizationSpec"), TEXT("Postgres"), TEXT("MySQL*"), TEXT("Mysql2::Error*"),
    TEXT("OperationFailure"), TEXT("SQL"), TEXT("panic"),
};
#define LIBPQ(text)                                                                                \
    TEXT("connection to server at *, port * failed: FATAL:  " text "*"),                           \
    TEXT("connection failed: connection to server at *, port * failed: FATAL:  " text "*"),        \
    TEXT("(*OperationalError) connection to server at *, port * failed: FATAL:  " text "*"),       \
    TEXT("(*OperationalError) connection failed: connection to server at *, port * failed: FATAL:  " text "*"), \
    TEXT("FATAL:  " text "*"), TEXT("FATAL: " text "*"),                                           \
    TEXT("failed to connect to *: FATAL: " text "*"), TEXT("failed to connect to *: server error (FATAL: " text "*")
static const struct bytes database_refused[] = {
    LIBPQ("password authentication failed for user"), LIBPQ("no pg_hba.conf entry for host"),
    TEXT("password authentication failed for user \"*\""), TEXT("28P01: *"), TEXT("(1045, *"),
    TEXT("(*OperationalError) (1045, *"), TEXT("Access denied for user '*"), TEXT("Authentication failed."),
    TEXT("Authentication failed., full error: *"),
};
static const struct bytes query_types[] = {TEXT("Operational"), TEXT("PSQL"), TEXT("SQLite"), TEXT("SQLite3::SQLException"),
                                           TEXT("*pgconn.PgError"), TEXT("error"), TEXT("Database"), TEXT("Postgres")};
static const struct bytes query_bugs[] = {
    TEXT("no such table: *"), TEXT("no such column: *"), TEXT("no such function: *"), TEXT("near \"*\": syntax error"),
    TEXT("table * has no column named *"), TEXT("incomplete input"),
    TEXT("(sqlite3.OperationalError) no such *"), TEXT("(sqlite3.OperationalError) near \"*"),
    TEXT("(sqlite3.OperationalError) table * has no column named *"), TEXT("(1054, *"), TEXT("(*OperationalError) (1054, *"),
    TEXT("ERROR: relation \"*\" does not exist*"), TEXT("ERROR: column \"*\" does not exist*"), TEXT("ERROR: syntax error at *"),
    TEXT("relation \"*\" does not exist"), TEXT("column \"*\" does not exist"), TEXT("syntax error at or near *"),
};
static const struct bytes constraint_messages[] = {
    TEXT("ERROR: duplicate key value violates *"), TEXT("duplicate key value violates unique constraint *"),
    TEXT("ERROR: insert or update on table *"), TEXT("insert or update on table *"), TEXT("ERROR: null value in column *"),
    TEXT("null value in column *"), TEXT("ERROR: invalid input syntax for *"), TEXT("invalid input syntax for *"),
    TEXT("23505: *"), TEXT("23503: *"),
};
static const struct bytes deadlock_messages[] = {
    TEXT("deadlock detected*"), TEXT("ERROR: deadlock detected*"), TEXT("deadlock found *"), TEXT("(1213, *"),
    TEXT("(1205, *"), TEXT("(*Error) (1213, *"), TEXT("(*Error) (1205, *"), TEXT("40P01: *"), TEXT("40001: *"),
    TEXT("could not serialize access *"), TEXT("ERROR: could not serialize access *"), TEXT("Lock wait timeout exceeded*"),
};

static const struct bytes database_busy[] = {
    TEXT("the database system is *"), TEXT("FATAL: the database system is *"), TEXT("sorry, too many clients already"),
    TEXT("FATAL: sorry, too many clients already"), TEXT("remaining connection slots are reserved *"),
    TEXT("FATAL: remaining connection slots are reserved *"), TEXT("terminating connection due to *"), TEXT("57P03: *"), TEXT("53300: *"),
    TEXT("failed to connect to *: FATAL: the database system is *"),
    TEXT("failed to connect to *: server error (FATAL: the database system is *"), TEXT("failed to connect to *: FATAL: sorry, too many clients already *"),
};
static const struct bytes redis_types[] = {TEXT("Reply"), TEXT("*proto.RedisError"), TEXT("RedisServer"), TEXT("JedisData"), TEXT("JedisAccessControl"),
                                           TEXT("RedisCommandExecution"), TEXT("CommandError"), TEXT("redis.exceptions.ResponseError"), TEXT("panic")};
static const struct bytes redis_refused[] = {TEXT("WRONGPASS *"), TEXT("NOAUTH *"), TEXT("NOPERM *")};
static const struct bytes redis_busy[] = {TEXT("LOADING *"), TEXT("BUSY *"), TEXT("CLUSTERDOWN *"), TEXT("TRYAGAIN *"), TEXT("MASTERDOWN *"),
                                          TEXT("READONLY *")};

/* ---- authentication ---- */

static const struct bytes auth_types[] = {
    TEXT("*Authentication"), TEXT("AuthenticationFailed"), TEXT("AuthenticationRequired"), TEXT("*Authorization"),
    TEXT("Unauthorized"), TEXT("HTTPUnauthorized"), TEXT("Unauthenticated"), TEXT("NotAuthorized"),
    TEXT("PermissionDenied"), TEXT("permission_error"), TEXT("Forbidden"), TEXT("HTTPForbidden"), TEXT("AccessDenied"), TEXT("InvalidApiKey*"),
    TEXT("invalid_api_key"), TEXT("UnrecognizedClient"), TEXT("InvalidClientTokenId"), TEXT("InvalidAccessKeyId"),
    TEXT("SignatureDoesNotMatch"), TEXT("InvalidSignature"), TEXT("ExpiredToken"), TEXT("MissingAuthenticationToken"),
    TEXT("IncompleteSignature"), TEXT("NoCredentials"), TEXT("PartialCredentials"), TEXT("CredentialRetrieval"),
    TEXT("CredentialUnavailable"), TEXT("CredentialsProvider"), TEXT("DefaultCredentials"), TEXT("NoPermission"),
    TEXT("InvalidPassword"), TEXT("InvalidAuthorizationSpecification"), TEXT("InsufficientPrivilege"),
    TEXT("*AuthError"), TEXT("ProxyAuthenticationRequired"),
};

/* ---- bugs ---- */

static const struct bytes key_error[] = {TEXT("KeyError"), TEXT("KeyNotFound")};
static const struct bytes fetch_type[] = {TEXT("TypeError")};
static const struct bytes fetch_messages[] = {TEXT("fetch failed"), TEXT("terminated"), TEXT("Failed to fetch"), TEXT("Load failed"),
                                              TEXT("NetworkError when attempting to fetch resource.")};
static const struct bytes type_error[] = {TEXT("TypeError"), TEXT("ClassCast"), TEXT("InvalidCast")};
static const struct bytes value_error[] = {TEXT("ValueError"), TEXT("IllegalArgument"), TEXT("ArgumentError"), TEXT("ArgumentException"),
                                           TEXT("ArgumentNull"), TEXT("ArgumentOutOfRange"), TEXT("RangeError"), TEXT("NumberFormat"),
                                           TEXT("*strconv.NumError"), TEXT("UnicodeDecode"), TEXT("UnicodeEncode")};
static const struct bytes index_error[] = {TEXT("IndexError"), TEXT("*IndexOutOfBounds"), TEXT("IndexOutOfRange"),
                                           TEXT("NoSuchElement")};
static const struct bytes attribute_error[] = {TEXT("AttributeError"), TEXT("NoMethodError"), TEXT("NoSuchMethod"), TEXT("NoSuchField")};
static const struct bytes null_pointer[] = {TEXT("NullPointer*"), TEXT("NullReference")};
static const struct bytes url_type[] = {TEXT("*url.Error"), TEXT("URLError"), TEXT("*errors.errorString")};
static const struct bytes url_bugs[] = {TEXT("parse \"*"), TEXT("<urlopen error unknown url type*"), TEXT("*: unsupported protocol scheme \"*\""),
                                        TEXT("unsupported protocol scheme \"*\"")};
static const struct bytes parse_error[] = {TEXT("*Parse*"), TEXT("*Parsing"), TEXT("*JSONDecode"),
                                           TEXT("JsonProcessing"), TEXT("JsonMapping"), TEXT("JsonReader"), TEXT("MismatchedInput"),
                                           TEXT("UnrecognizedProperty"), TEXT("*json.SyntaxError"), TEXT("*json.UnmarshalTypeError"),
                                           TEXT("*xml.SyntaxError")};
static const struct bytes query[] = {TEXT("ProgrammingError"), TEXT("UndefinedTable"), TEXT("UndefinedColumn"), TEXT("UndefinedFunction"),
                                     TEXT("BadSqlGrammar"), TEXT("SQLSyntaxError"), TEXT("StatementInvalid")};
static const struct bytes bug[] = {
    TEXT("NameError"), TEXT("UnboundLocal"), TEXT("ImportError"), TEXT("ModuleNotFound"), TEXT("SyntaxError"), TEXT("IndentationError"),
    TEXT("AssertionError"), TEXT("ERR_ASSERTION"), TEXT("ZeroDivision"), TEXT("DivideByZero"), TEXT("Arithmetic"), TEXT("NotImplemented*"),
    TEXT("Recursion"), TEXT("ReferenceError"), TEXT("StackOverflow"), TEXT("SystemStackError"), TEXT("UnsupportedOperation"),
    TEXT("ClassNotFound"), TEXT("NoClassDefFound"), TEXT("ConcurrentModification"), TEXT("FrozenError"), TEXT("LoadError"),
    TEXT("InvalidOperation"), TEXT("FormatException"), TEXT("IllegalState"), TEXT("runtime error"), TEXT("Overflow"),
    TEXT("ArrayStore"), TEXT("NegativeArraySize"), TEXT("ObjectDisposed"), TEXT("LocalJumpError"), TEXT("FloatDomain"),
};

/* ---- validation ---- */

static const struct bytes foreign_key_types[] = {TEXT("*foreign*key*")};
static const struct bytes not_found_types[] = {
    TEXT("NotFound"), TEXT("not_found_error"), TEXT("ResourceNotFound"), TEXT("RecordNotFound"), TEXT("ObjectNotFound"),
    TEXT("EntityNotFound"), TEXT("DocumentNotFound"), TEXT("NoSuchKey"), TEXT("NoSuchBucket"), TEXT("DoesNotExist"), TEXT("ObjectDoesNotExist"),
};
static const struct bytes validation_types[] = {
    TEXT("*validation*"), TEXT("BadRequest"), TEXT("Invalid*"), TEXT("*InvalidRequest"), TEXT("*InvalidArgument"), TEXT("UnprocessableEntity"),
    TEXT("UnprocessableContent"), TEXT("Unprocessable"), TEXT("Malformed*"), TEXT("*Integrity"), TEXT("DataIntegrityViolation"),
    TEXT("*ConstraintViolation"), TEXT("UniqueViolation"), TEXT("NotNullViolation"), TEXT("CheckViolation"), TEXT("RecordNotUnique"),
    TEXT("RecordInvalid"), TEXT("DuplicateKey"), TEXT("DataError"), TEXT("Data"), TEXT("Serialization"), TEXT("Deserialization"),
    TEXT("ConditionalCheckFailed"), TEXT("PayloadTooLarge"), TEXT("RequestEntityTooLarge"), TEXT("RequestTooLarge"), TEXT("ZodError"),
    TEXT("MethodArgumentNotValid"), TEXT("NumericValueOutOfRange"), TEXT("StringDataRightTruncation"),
};

/* ---- what speaks against the downstream ---- */

static const struct bytes dns_types[] = {
    TEXT("gaierror"), TEXT("NameResolution"), TEXT("UnknownHost"), TEXT("*net.DNSError"), TEXT("ENOTFOUND"), TEXT("EAI_AGAIN"),
    TEXT("ClientConnectorDNS"), TEXT("ResolutionError"),
};
static const struct bytes tls_types[] = {
    TEXT("SSLError"), TEXT("*SSLError"), TEXT("SSLException"), TEXT("SSLHandshake"), TEXT("SSLPeerUnverified"), TEXT("SSLCertVerification"),
    TEXT("SSLZeroReturn"), TEXT("SSLEOF"), TEXT("SSLWantRead"), TEXT("ClientConnectorSSL"), TEXT("ClientConnectorCertificate"),
    TEXT("*tls.CertificateVerificationError"), TEXT("*x509.UnknownAuthorityError"), TEXT("*tls.RecordHeaderError"),
    TEXT("System.Security.Authentication.AuthenticationException"),
};
static const struct bytes timeout_types[] = {
    TEXT("*Timeout"), TEXT("*TimedOut"), TEXT("*DeadlineExceeded"), TEXT("DEADLINE_EXCEEDED"), TEXT("TimeoutExpired"), TEXT("Timeout::Error"),
    TEXT("Timeout::ExitException"), TEXT("*TimeLimitExceeded"), TEXT("ETIMEDOUT"), TEXT("ESOCKETTIMEDOUT"), TEXT("AbortError"),
    TEXT("TaskCanceled"), TEXT("QueryCanceled"), TEXT("*_timeout"), TEXT("*TimeoutRejected"),
};
static const struct bytes connection_types[] = {
    TEXT("*Connection"), TEXT("*Connect"), TEXT("*ConnectionReset"), TEXT("*ConnectionRefused"), TEXT("*ConnectionAborted"),
    TEXT("*ConnectionClosed"), TEXT("*ConnectionLost"), TEXT("*ConnectionFailed"),
    TEXT("*ConnectionFailure"), TEXT("*ConnectionTerminated"), TEXT("*ConnectionBroken"), TEXT("*ConnectionDropped"),
    TEXT("*ConnectionInterrupted"), TEXT("*ConnectionShutdown"), TEXT("*ConnectionBad"), TEXT("*ConnectionNotEstablished"),
    TEXT("ConnectionDoesNotExist"), TEXT("CannotConnectNow"), TEXT("*Disconnect"), TEXT("*Disconnected"), TEXT("BrokenPipe"),
    TEXT("ECONNREFUSED"), TEXT("ECONNRESET"), TEXT("ECONNABORTED"), TEXT("EPIPE"), TEXT("EHOSTUNREACH"), TEXT("ENETUNREACH"), TEXT("ENETDOWN"),
    TEXT("EHOSTDOWN"), TEXT("Socket"), TEXT("Network"), TEXT("NetworkFailure"), TEXT("NoRouteToHost"), TEXT("PortUnreachable"),
    /* Python */
    TEXT("ClientConnector"), TEXT("ClientOS"), TEXT("ClientPayload"), TEXT("MaxRetry"), TEXT("ProxyError"), TEXT("IncompleteRead"),
    TEXT("ChunkedEncoding"), TEXT("RemoteProtocol"), TEXT("httpx.ReadError"), TEXT("httpx.WriteError"), TEXT("httpcore.ReadError"),
    TEXT("httpcore.WriteError"), TEXT("urllib3.exceptions.ProtocolError"), TEXT("URLError"), TEXT("AutoReconnect"), TEXT("NotPrimary"),
    TEXT("NotMaster"), TEXT("NoBrokersAvailable"), TEXT("StreamLost"), TEXT("ResponseStreaming"),
    /* Node */
    TEXT("FetchError"), TEXT("MaxRetriesPerRequest"),
    /* Java */
    TEXT("NoHttpResponse"), TEXT("StreamReset"), TEXT("Communications"), TEXT("SQLTransient"), TEXT("SQLRecoverable"), TEXT("ResourceAccess"),
    TEXT("WebClientRequest"), TEXT("DataAccessResourceFailure"), TEXT("TransientDataAccessResource"), TEXT("CannotCreateTransaction"),
    TEXT("ClosedChannel"), TEXT("Retryable"),
    /* Go */
    TEXT("*net.OpError"), TEXT("*url.Error"), TEXT("*pgconn.ConnectError"), TEXT("*net.errClosed"),
    /* .NET */
    TEXT("HttpRequest"), TEXT("System.Net.WebException"), TEXT("Npgsql.NpgsqlException"), TEXT("BrokerUnreachable"), TEXT("HttpIO"),
    /* Ruby */
    TEXT("UnableToSend"), TEXT("ServerSelection"),
};
static const struct bytes operational_types[] = {
    TEXT("Operational"), TEXT("AdminShutdown"), TEXT("CrashShutdown"), TEXT("TooManyConnections"), TEXT("NotLeaderForPartition"),
    TEXT("NotLeaderOrFollower"), TEXT("LeaderNotAvailable"), TEXT("BrokerNotAvailable"), TEXT("NodeNotReady"), TEXT("BusyLoading"),
    TEXT("ClusterDown"), TEXT("MasterDown"), TEXT("TryAgain"), TEXT("redis.exceptions.ReadOnlyError"),
};
static const struct bytes blocked_types[] = {TEXT("BlockingIOError"), TEXT("EAGAIN"), TEXT("EWOULDBLOCK"), TEXT("*WaitReadable"), TEXT("*WaitWritable")};
static const struct bytes deadlock_types[] = {
    TEXT("*Deadlock"), TEXT("*DeadlockDetected"), TEXT("*Deadlocked"), TEXT("DeadlockLoserDataAccess"), TEXT("SerializationFailure"),
    TEXT("LockNotAvailable"), TEXT("CannotAcquireLock"), TEXT("CannotSerializeTransaction"), TEXT("LockAcquisition"),
    TEXT("PessimisticLockingFailure"), TEXT("TransactionRollback"), TEXT("LockWaitTimeout"), TEXT("SQLITE_BUSY"), TEXT("SQLite3::BusyException"),
};
static const struct bytes throttled_types[] = {
    TEXT("*RateLimit"), TEXT("*RateLimited"), TEXT("*RateLimitExceeded"), TEXT("*RateLimitReached"), TEXT("*rate_limit_exceeded"),
    TEXT("*rate_limit"), TEXT("*TooManyRequests"), TEXT("too_many_requests"), TEXT("*Throttling"), TEXT("*Throttled"), TEXT("Throttle"),
    TEXT("Throttler"), TEXT("*ThroughputExceeded"), TEXT("RequestLimitExceeded"), TEXT("BandwidthLimitExceeded"), TEXT("SlowDown"),
    TEXT("ResourceExhausted"), TEXT("RESOURCE_EXHAUSTED"), TEXT("PriorRequestNotComplete"), TEXT("EnhanceYourCalm"),
};
static const struct bytes unavailable_types[] = {
    TEXT("*ServiceUnavailable"), TEXT("Unavailable"), TEXT("*TemporarilyUnavailable"), TEXT("ServerUnavailable"),
    TEXT("UpstreamUnavailable"), TEXT("BackendUnavailable"), TEXT("DatabaseUnavailable"), TEXT("*Overloaded"), TEXT("*InternalServer"), TEXT("*BadGateway"), TEXT("InternalFailure"), TEXT("InternalServiceError"),
    TEXT("ServerError"), TEXT("server_error"), TEXT("api_error"), TEXT("HttpServerError"), TEXT("ModelNotReady"), TEXT("TransientError"),
    TEXT("CallNotPermitted"), TEXT("BrokenCircuit"), TEXT("*CircuitBreakerOpen"), TEXT("*CircuitBreaker"), TEXT("CircuitOpen"), TEXT("RetryLater"),
};

/* ---- types that say nothing: Error, IOException, OSError, a Go error of any type. Each text is the whole message or
 * its beginning, but for Go, whose messages end with their cause ---- */

static const struct bytes refused_messages[] = {
    TEXT("connect ECONNREFUSED *"), TEXT("connect EHOSTUNREACH *"), TEXT("connect ENETUNREACH *"), TEXT("connect ECONNRESET *"),
    TEXT("ECONNREFUSED"), TEXT("ECONNRESET"), TEXT("write EPIPE*"), TEXT("socket hang up"), TEXT("other side closed"), TEXT("fetch failed"),
    TEXT("Client network socket disconnected *"), TEXT("Connection terminated unexpectedly"), TEXT("Connection terminated"), TEXT("Connection is closed."),
    TEXT("Connection error."), TEXT("Connection aborted*"), TEXT("('Connection aborted.', *"), TEXT("Connection refused"), TEXT("Connection refused - connect(2) for *"), TEXT("[Errno 111] *"), TEXT("[Errno 113] *"),
    TEXT("[Errno 101] *"), TEXT("[Errno 32] *"), TEXT("Connection closed"), TEXT("HTTP/1.1 header parser received no bytes"),
    TEXT("unexpected end of stream on http*"), TEXT("Broken pipe"), TEXT("end of file reached"), TEXT("Connection to * refused. Check that *"),
    TEXT("The connection attempt failed."), TEXT("This connection has been closed."), TEXT("An I/O error occurred while sending to the backend."),
    TEXT("connection already closed"), TEXT("the connection is closed"), TEXT("driver: bad connection"), TEXT("failed to connect to `*`: dial error *"),
    TEXT("dial tcp *: connect: connection refused"), TEXT("*: dial tcp *: connect: connection refused"), TEXT("dial tcp *: connect: no route to host"),
    TEXT("*: dial tcp *: connect: no route to host"), TEXT("*: dial tcp *: connect: network is unreachable"), TEXT("Post \"http*\": EOF"),
    TEXT("Get \"http*\": EOF"), TEXT("*: Post \"http*\": EOF"), TEXT("*: Get \"http*\": EOF"),
};
static const struct bytes reset_messages[] = {
    TEXT("Connection reset"), TEXT("Connection reset by peer"), TEXT("Connection reset by *"), TEXT("Connection reset *"), TEXT("read: Connection reset *"),
    TEXT("read ECONNRESET*"), TEXT("write ECONNRESET*"), TEXT("[Errno 104] *"), TEXT("*: read tcp *: read: connection reset by peer"),
    TEXT("read tcp *: read: connection reset by peer"), TEXT("dial tcp*: connection reset by peer"),
    TEXT("*: dial tcp *: connection reset by peer"),
};
static const struct bytes dns_messages[] = {
    TEXT("getaddrinfo ENOTFOUND *"), TEXT("getaddrinfo EAI_AGAIN *"), TEXT("dial tcp: lookup *"), TEXT("*: dial tcp: lookup *: no such host"),
    TEXT("*: dial tcp: lookup *: server misbehaving"), TEXT("getaddrinfo: *"), TEXT("Failed to open TCP connection to * (getaddrinfo: *"),
    TEXT("[Errno -2] *"), TEXT("[Errno -3] *"), TEXT("Temporary failure in name resolution*"),
    TEXT("Name or service not known*"),
};
static const struct bytes timeout_messages[] = {
    TEXT("connect ETIMEDOUT *"), TEXT("read ETIMEDOUT*"), TEXT("ETIMEDOUT"), TEXT("timeout of *ms exceeded"), TEXT("network timeout at: *"), TEXT("Timeout awaiting '*' for *ms"),
    TEXT("Connection terminated due to connection timeout"), TEXT("timeout expired"), TEXT("timeout exceeded when trying to connect"),
    TEXT("Query read timeout"), TEXT("Command timed out"), TEXT("[Errno 110] *"), TEXT("timed out"), TEXT("Read timed out"), TEXT("Read timed out.*"),
    TEXT("connect timed out"), TEXT("Connection timed out*"), TEXT("Connect timeout*"), TEXT("deadline exceeded*"),
    TEXT("context deadline exceeded"), TEXT("*: context deadline exceeded"), TEXT("*: context deadline exceeded (Client.Timeout exceeded *)"),
    TEXT("dial tcp *: i/o timeout"), TEXT("*: dial tcp *: i/o timeout"), TEXT("read tcp *: i/o timeout"), TEXT("*: read tcp *: i/o timeout"),
    TEXT("* (Client.Timeout exceeded while awaiting headers)"), TEXT("net/http: TLS handshake timeout"), TEXT("*: net/http: TLS handshake timeout"),
    TEXT("*: net/http: timeout awaiting response headers"), TEXT("Request timed out."), TEXT("execution expired"), TEXT("failed to connect to `*`: failed to receive message (timeout: *"),
};
static const struct bytes foreign_key_messages[] = {
    TEXT("violates foreign key constraint*"), TEXT("insert or update on table * violates foreign key constraint *"),
    TEXT("ERROR: insert or update on table * violates foreign key constraint *"),
    TEXT("update or delete on table * violates foreign key constraint *"),
    TEXT("insert violates foreign key constraint*"), TEXT("update violates foreign key constraint*"),
    TEXT("delete violates foreign key constraint*"), TEXT("FOREIGN KEY constraint failed*"),
    TEXT("(*IntegrityError) FOREIGN KEY constraint failed*"), TEXT("foreign key violation*"),
    TEXT("foreign key constraint violat*"), TEXT("foreign_key_violation*"),
    TEXT("Cannot add or update a child row: a foreign key constraint fails*"),
    TEXT("Cannot delete or update a parent row: a foreign key constraint fails*"), TEXT("(1452, *"), TEXT("(1451, *"),
};
static const struct bytes foreign_key_owners[] = {
    TEXT("*Integrity"), TEXT("PSQL"), TEXT("DataIntegrityViolation"), TEXT("*pgconn.PgError"), TEXT("Database"),
    TEXT("error"), TEXT("Error"), TEXT("InvalidForeignKey"),
};
static const struct bytes validation_messages[] = {TEXT("Validation failed*"), TEXT("Validation error*")};

/* ---- generic types: their message may have a status ---- */

static const struct bytes plain_types[] = {
    TEXT("Exception"), TEXT("Error"), TEXT("Runtime"), TEXT("Standard"), TEXT("IO"), TEXT("OS"), TEXT("panic"), TEXT("*errors.errorString"),
    TEXT("*fmt.wrapError"), TEXT("*Downstream"), TEXT("*Upstream"), TEXT("*Service"), TEXT("*Backend"), TEXT("*Gateway"),
    TEXT("*Provider"), TEXT("*Remote"),
};
static const struct bytes plain_deadlock[] = {
    TEXT("deadlock"), TEXT("deadlock *"), TEXT("database deadlock*"), TEXT("db deadlock*"), TEXT("transaction deadlock*"), TEXT("sql deadlock*"),
    TEXT("query deadlock*"), TEXT("lock deadlock*"), TEXT("row deadlock*"), TEXT("table deadlock*"), TEXT("mysql deadlock*"),
    TEXT("innodb deadlock*"), TEXT("postgres deadlock*"), TEXT("postgresql deadlock*"),
};

#define STATUS_ROWS(key, ...)                                                                      \
    FAMILY(key "_429", RETRY, "rate_limit", "rate_limit", SAYS(429, 429) __VA_ARGS__),             \
    FAMILY(key "_408", RETRY, "timeout", "timeout", SAYS(408, 408) __VA_ARGS__),                   \
    FAMILY(key "_5xx", RETRY, "transient", "upstream_busy", SAYS(500, 599) __VA_ARGS__),           \
    FAMILY(key "_400", DLQ, "validation", "bad_request", SAYS(400, 400) __VA_ARGS__),              \
    FAMILY(key "_413", DLQ, "validation", "bad_request", SAYS(413, 415) __VA_ARGS__),              \
    FAMILY(key "_422", DLQ, "validation", "bad_request", SAYS(422, 422) __VA_ARGS__),              \
    FAMILY(key "_404", DLQ, "validation", "not_found", SAYS(404, 404) __VA_ARGS__),                \
    FAMILY(key "_410", DLQ, "validation", "not_found", SAYS(410, 410) __VA_ARGS__)

static const struct rule rules[] = {
    /* One type, many failures: the form of the message decides. */
    FAMILY("http_401", HALT, "auth", "auth", SAYS(401, 401), TYPES(http_types)),
    FAMILY("http_403", HALT, "auth", "auth", SAYS(403, 403), TYPES(http_types)),
    FAMILY("http_407", HALT, "auth", "auth", SAYS(407, 407), TYPES(http_types)),
    STATUS_ROWS("http", , TYPES(http_types)),
    FAMILY("aws_throttling", RETRY, "rate_limit", "rate_limit", TYPES(aws_types), MESSAGES(aws_throttled)),
    FAMILY("aws_unavailable", RETRY, "transient", "upstream_busy", TYPES(aws_types), MESSAGES(aws_unavailable)),
    FAMILY("aws_authentication", HALT, "auth", "auth", TYPES(aws_types), MESSAGES(aws_refused)),
    FAMILY("aws_validation", DLQ, "validation", "bad_request", TYPES(aws_types), MESSAGES(aws_invalid)),
    FAMILY("grpc_unavailable", RETRY, "transient", "upstream_busy", TYPES(rpc_types), MESSAGES(rpc_unavailable)),
    FAMILY("grpc_deadline", RETRY, "timeout", "timeout", TYPES(rpc_types), MESSAGES(rpc_deadline)),
    FAMILY("grpc_exhausted", RETRY, "rate_limit", "rate_limit", TYPES(rpc_types), MESSAGES(rpc_exhausted)),
    FAMILY("grpc_aborted", RETRY, "transient", "deadlock", TYPES(rpc_types), MESSAGES(rpc_aborted)),
    FAMILY("grpc_authentication", HALT, "auth", "auth", TYPES(rpc_types), MESSAGES(rpc_refused)),
    FAMILY("grpc_validation", DLQ, "validation", "bad_request", TYPES(rpc_types), MESSAGES(rpc_invalid)),
    FAMILY("grpc_not_found", DLQ, "validation", "not_found", TYPES(rpc_types), MESSAGES(rpc_not_found)),
    FAMILY("database_authentication", HALT, "auth", "auth", TYPES(database_types), MESSAGES(database_refused)),
    FAMILY("database_unavailable", RETRY, "transient", "unavailable", TYPES(database_types), MESSAGES(database_busy)),
    FAMILY("redis_authentication", HALT, "auth", "auth", TYPES(redis_types), MESSAGES(redis_refused)),
    FAMILY("redis_unavailable", RETRY, "transient", "unavailable", TYPES(redis_types), MESSAGES(redis_busy)),
    FAMILY("database_deadlock", RETRY, "transient", "deadlock", TYPES(database_types), MESSAGES(deadlock_messages)),
    FAMILY("database_query", DLQ, "bug", "query", TYPES(query_types), MESSAGES(query_bugs)),
    FAMILY("database_foreign_key", DLQ, "validation", "foreign_key", TYPES(foreign_key_owners), MESSAGES(foreign_key_messages)),
    FAMILY("database_constraint", DLQ, "validation", "validation", TYPES(database_types), MESSAGES(constraint_messages)),
    FAMILY("fetch", RETRY, "transient", "connection", TYPES(fetch_type), MESSAGES(fetch_messages)),
    FAMILY("url", DLQ, "bug", "url", TYPES(url_type), MESSAGES(url_bugs)),
    FAMILY("url_timeout", RETRY, "timeout", "timeout", TYPES(url_type), MESSAGES(timeout_messages)),
    FAMILY("url_dns", RETRY, "transient", "dns", TYPES(url_type), MESSAGES(dns_messages)),
    /* The type alone. */
    FAMILY("tls", RETRY, "transient", "tls", TYPES(tls_types)),
    FAMILY("authentication", HALT, "auth", "auth", TYPES(auth_types)),
    FAMILY("key_error", DLQ, "bug", "key_error", TYPES(key_error)),
    FAMILY("type_error", DLQ, "bug", "type_error", TYPES(type_error)),
    FAMILY("value_error", DLQ, "bug", "value_error", TYPES(value_error)),
    FAMILY("index_error", DLQ, "bug", "index_error", TYPES(index_error)),
    FAMILY("attribute_error", DLQ, "bug", "attribute_error", TYPES(attribute_error)),
    FAMILY("null_pointer", DLQ, "bug", "null_pointer", TYPES(null_pointer)),
    FAMILY("parse_error", DLQ, "bug", "parse_error", TYPES(parse_error)),
    FAMILY("query", DLQ, "bug", "query", TYPES(query)),
    FAMILY("bug", DLQ, "bug", "bug", TYPES(bug)),
    FAMILY("deadlock", RETRY, "transient", "deadlock", TYPES(deadlock_types)),
    FAMILY("foreign_key", DLQ, "validation", "foreign_key", TYPES(foreign_key_types)),
    FAMILY("not_found", DLQ, "validation", "not_found", TYPES(not_found_types)),
    FAMILY("dns", RETRY, "transient", "dns", TYPES(dns_types)),
    FAMILY("validation", DLQ, "validation", "validation", TYPES(validation_types)),
    FAMILY("timeout", RETRY, "timeout", "timeout", TYPES(timeout_types)),
    FAMILY("connection", RETRY, "transient", "connection", TYPES(connection_types)),
    FAMILY("throttling", RETRY, "rate_limit", "rate_limit", TYPES(throttled_types)),
    FAMILY("unavailable", RETRY, "transient", "upstream_busy", TYPES(unavailable_types)),
    FAMILY("operational", RETRY, "transient", "unavailable", TYPES(operational_types)),
    FAMILY("blocked", RETRY, "transient", "blocked_io", TYPES(blocked_types)),
    /* Any other type: how the message begins. */
    FAMILY("message_deadlock", RETRY, "transient", "deadlock", MESSAGES(deadlock_messages)),
    FAMILY("message_connection", RETRY, "transient", "connection", MESSAGES(refused_messages)),
    FAMILY("message_reset", RETRY, "transient", "connection_reset", MESSAGES(reset_messages)),
    FAMILY("message_dns", RETRY, "transient", "dns", MESSAGES(dns_messages)),
    FAMILY("message_timeout", RETRY, "timeout", "timeout", MESSAGES(timeout_messages)),
    STATUS_ROWS("message", ),
    FAMILY("message_foreign_key", DLQ, "validation", "foreign_key", MESSAGES(foreign_key_messages)),
    FAMILY("message_validation", DLQ, "validation", "validation", MESSAGES(validation_messages)),
    FAMILY("plain_deadlock", RETRY, "transient", "deadlock", TYPES(plain_types), MESSAGES(plain_deadlock)),
    FAMILY("plain_429", RETRY, "rate_limit", "rate_limit", TELLS(429, 429), TYPES(plain_types)),
    FAMILY("plain_5xx", RETRY, "transient", "upstream_busy", TELLS(500, 599), TYPES(plain_types)),
};
/* clang-format on */

const struct rule *preset_errors(size_t *count) {
    *count = sizeof rules / sizeof *rules;
    return rules;
}
