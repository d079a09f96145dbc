module.exports=[24754,a=>{"use strict";a.s([])}];

//# sourceMappingURL=next__next-internal_server_app_other_page_actions_0g0rf5tzti4ve.js.map