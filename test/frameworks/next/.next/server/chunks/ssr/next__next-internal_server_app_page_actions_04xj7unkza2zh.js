module.exports=[62033,a=>{"use strict";a.s([])}];

//# sourceMappingURL=next__next-internal_server_app_page_actions_04xj7unkza2zh.js.map