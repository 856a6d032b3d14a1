import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, TracerProvider, type TracerProviderOptions } from '@opentelemetry/sdk-trace'
import type { RunningTraces } from './running-traces.ts'

const EXPORT_WITHIN_MS = 2_000

export function exportTraces(endpoint: string, service: string): RunningTraces {
  const exporter = new OTLPTraceExporter({ url: endpoint, timeoutMillis: EXPORT_WITHIN_MS })
  const provider = new TracerProvider({
    resource: serviceResource(service),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_WITHIN_MS })],
    spanLimits: { attributeValueLengthLimit: 512 },
  })
  context.setGlobalContextManager(asyncContext())
  trace.setGlobalTracerProvider(provider)
  return {
    async stop() {
      trace.disable()
      context.disable()
      // An unreachable collector must not prevent the process from ending.
      await provider.shutdown().catch(() => undefined)
    },
  }
}

type Resource = NonNullable<TracerProviderOptions['resource']>

/** Only the service name, not the host name. */
function serviceResource(service: string): Resource {
  const attributes = { 'service.name': service }
  const resource: Resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  }
  return resource
}

/** Keeps the active span across `await`. */
function asyncContext(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (current, run, self, ...args) => storage.run(current, () => run.call(self as never, ...args)),
    bind: (current, target) =>
      typeof target === 'function'
        ? (((...args: unknown[]) => storage.run(current, () => target(...args))) as typeof target)
        : target,
    enable: () => manager,
    disable() {
      storage.disable()
      return manager
    },
  }
  return manager
}
