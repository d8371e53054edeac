# Lets client libraries of Ruby fail against failing_server.py: one JSON line for each case, with the type, the message
# and the trace that an uncaught exception would print. Ports are masked.
#     raise_ruby.rb '{"http": 1234, "closed": 1235, …}'
require "json"
require "net/http"
require "open-uri"
require "faraday"
require "redis"

PORTS = JSON.parse(ARGV[0])

def wait(where)
  %w[slow silent].include?(where) ? 0.3 : 30
end

def at(where)
  where == "closed" ? "http://127.0.0.1:#{PORTS["closed"]}/" : "http://127.0.0.1:#{PORTS["http"]}/#{where}"
end

def net_http(where)
  uri = URI(at(where))
  http = Net::HTTP.new(uri.host, uri.port)
  http.read_timeout = wait(where)
  http.max_retries = 0
  http.post(uri.path, "x").value
end

def faraday(where)
  Faraday.new(request: {timeout: wait(where)}) { |f| f.response :raise_error }.post(at(where), "x")
end

def open_uri(where)
  URI.open(at(where), read_timeout: wait(where)).read
end

def redis(where)
  Redis.new(port: PORTS[where], read_timeout: wait(where), reconnect_attempts: 0).get("k")
end

CASES = {}
%w[closed slow 429 503 401 400].each do |where|
  CASES["net/http #{where}"] = -> { net_http(where) }
  CASES["faraday #{where}"] = -> { faraday(where) } unless where == "429"
  CASES["open-uri #{where}"] = -> { open_uri(where) }
end
%w[closed silent redis_auth redis_loading].each { |where| CASES["redis #{where}"] = -> { redis(where) } }
CASES["bug NoMethodError"] = -> { nil.price }
CASES["bug ArgumentError"] = -> { Integer("503") + Integer("x") }
CASES["json"] = -> { JSON.parse("{") }

def masked(text)
  PORTS.values.uniq.inject(text) { |said, port| said.gsub(/\b#{port}\b/, "PORT") }
end

CASES.each do |name, run|
  begin
    run.call
  rescue Exception => error
    puts JSON.generate("case" => "ruby #{name}", "type" => error.class.name, "message" => masked(error.message),
                       "trace" => error.full_message(highlight: false, order: :top))
  else
    abort "#{name}: nothing was raised"
  end
end
