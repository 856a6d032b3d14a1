import type { RunningTraces } from './running-traces.ts'

export interface TracesSettings {
  /** URL of an OTLP collector, such as `http://collector:4318/v1/traces`. */
  readonly endpoint?: string
  readonly service: string
}

/** Without a collector no exporter is loaded and spans record nothing. */
export async function startTraces(settings: TracesSettings): Promise<RunningTraces> {
  if (settings.endpoint === undefined) return { stop: async () => undefined }
  const { exportTraces } = await import('./export-traces.ts')
  return exportTraces(settings.endpoint, settings.service)
}
