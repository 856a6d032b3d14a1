import { readFileSync } from 'node:fs'
import type { Outbound } from '@market/core/ports/outbound'
import { dnsResolver } from '../outbound/dns-resolver.ts'
import { forwardingOutbound } from '../outbound/forwarding-outbound.ts'
import { guardedOutbound } from '../outbound/guarded-outbound.ts'

interface OutboundSettings {
  readonly DNS_SERVERS: readonly string[]
  readonly OUTBOUND_REROUTE: readonly string[]
  readonly OUTBOUND_CA_FILE?: string | undefined
  readonly OUTBOUND_FORWARD_FILE?: string | undefined
}

/** Creates the outbound client from the environment. */
export function outboundFrom(settings: OutboundSettings): Outbound {
  const routes = new Map(settings.OUTBOUND_REROUTE.map(readRoute))
  const guarded = guardedOutbound({
    resolver: dnsResolver(settings.DNS_SERVERS),
    ...(settings.OUTBOUND_CA_FILE !== undefined && { ca: readFileSync(settings.OUTBOUND_CA_FILE, 'utf8') }),
    ...(routes.size > 0 && { connectTo: (host, port) => routes.get(host) ?? { host, port } }),
  })
  const forwards = settings.OUTBOUND_FORWARD_FILE
  // fix: forwarded-webhooks
  return forwards === undefined ? guarded : forwardingOutbound(guarded, forwards)
}

function readRoute(entry: string): [string, { host: string; port: number }] {
  const [, from, host, port] = /^([^=]+)=(.+):(\d+)$/.exec(entry) ?? []
  if (from === undefined || host === undefined) throw new Error(`OUTBOUND_REROUTE: "${entry}" is not a route`)
  return [from, { host, port: Number(port) }]
}
