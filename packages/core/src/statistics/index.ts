export { rollUpStatistics } from './roll-up.ts'
export { changesBetween, type StatisticChange, type Statistics } from './statistic.ts'
export { addStatistics, findLeaders, insertChanges, readStatistics } from './store.ts'
