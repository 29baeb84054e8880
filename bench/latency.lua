-- For wrk: one line of JSON at the end.
done = function(summary, latency)
  local seconds = summary.duration / 1e6
  local errors = summary.errors
  io.write(string.format(
    '{"requests_per_second":%.1f,"p50_ms":%.3f,"p99_ms":%.3f,"p999_ms":%.3f,"max_ms":%.3f,"errors":%d}\n',
    summary.requests / seconds, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
