/* The charts library, as much of it as is used; loaded when a page first wants a chart. */
import { BarChart, PieChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, PieChart, GridComponent, TooltipComponent, CanvasRenderer]);

export { init };
