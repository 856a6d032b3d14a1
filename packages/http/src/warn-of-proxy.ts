interface WarningLog {
  warn(fields: object, message: string): void
}

/** Once, because anybody can send these headers. */
export function warnOfProxyOnce(log: WarningLog): (peer: string) => void {
  let hasWarned = false
  return (peer) => {
    if (hasWarned) return
    hasWarned = true
    log.warn(
      { peer },
      'a request has X-Forwarded-For or Forwarded, and TRUSTED_PROXIES does not name its peer: its clients share the limits of one address. If the peer is your proxy, add it to TRUSTED_PROXIES',
    )
  }
}
