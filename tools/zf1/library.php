<?php

// Loads the classes of ZF1 when they are first used, and returns the folder that contains Zend/.

$library = (string) getenv('ZF1');
set_include_path($library);
spl_autoload_register(function (string $class) use ($library): void {
    $file = $library . '/' . strtr($class, '_', '/') . '.php';
    // ZF1 itself finds and loads the controllers.
    if (str_starts_with($class, 'Zend_') && is_file($file)) {
        require_once $file;
    }
});

return $library;
