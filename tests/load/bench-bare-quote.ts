import Fastify from 'fastify'

/** The bare engine: Fastify, one route, the same bytes; no limits, no lookup, no reference of its own for each quote. */
const { body, headers } = JSON.parse(process.argv[2] ?? '{}') as {
  body: unknown
  headers: Record<string, string>
}
const app = Fastify()
app.get('/api/x402/discover/:service_id', async (_request, reply) =>
  reply.code(402).headers(headers).send(body),
)
app.get('/metrics', async () => {
  const { user, system } = process.cpuUsage()
  return `process_cpu_seconds_total ${(user + system) / 1e6}\n`
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
