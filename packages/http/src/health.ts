import type { FastifyInstance } from 'fastify'

export interface Health {
  /** True when this process can serve requests: the database responds and its schema matches this code. */
  isReady(): Promise<boolean>
  isDraining(): boolean
}

/** `/healthz` reports that the process runs, without its dependencies; `/readyz` that it can serve requests. */
export function mountHealth(app: FastifyInstance, health: Health): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    if (health.isDraining()) return reply.code(503).send({ status: 'draining' })
    const ready = await health.isReady().catch(() => false)
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' })
  })
}
