import type { FastifyInstance } from 'fastify'

export interface Health {
  /** Why this process cannot serve requests, with what to do; undefined when it can. */
  whyNotReady(): Promise<string | undefined>
  isDraining(): boolean
}

interface HealthSettings {
  /** Only where the public cannot read it, because it describes the installation. */
  readonly showsReason: boolean
}

/** `/healthz` reports that the process runs, without its dependencies; `/readyz` that it can serve requests. */
export function mountHealth(app: FastifyInstance, health: Health, { showsReason }: HealthSettings): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (health.isDraining()) return reply.code(503).send({ status: 'draining' })
    const reason = await health.whyNotReady()
    if (reason === undefined) return reply.send({ status: 'ready' })
    return reply.code(503).send({ status: 'not ready', ...(showsReason && { reason }) })
  })
}
