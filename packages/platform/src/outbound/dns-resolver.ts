import { Resolver } from 'node:dns/promises'
import { type HostResolver, systemResolver } from './resolve.ts'

const TIMEOUT_MS = 1_500
const TRIES = 2

/**
 * Queries the given DNS servers directly, by default those of the system. Unlike the system's lookup it uses no thread, so
 * that unresponsive servers cannot block the process.
 */
export function dnsResolver(servers: readonly string[]): HostResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers([...servers])
  else if (resolver.getServers().length === 0) return systemResolver
  return {
    resolve: async (host) => {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      if (addresses.length > 0) return addresses
      const failed = answers.find((answer) => answer.status === 'rejected')
      throw failed?.reason ?? new Error(`${host} has no address`)
    },
  }
}
