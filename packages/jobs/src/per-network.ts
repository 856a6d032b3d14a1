import type { JobContext } from './tasks.ts'

type Network = keyof JobContext['chains']

/** An error on one network does not stop the others; all errors are thrown at the end. */
export function perNetwork(run: (ctx: JobContext, network: Network) => Promise<unknown>) {
  return async (ctx: JobContext): Promise<void> => {
    const networks = Object.keys(ctx.chains) as Network[]
    const results = await Promise.allSettled(networks.map((network) => run(ctx, network)))
    const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'Not every network could be read')
  }
}
